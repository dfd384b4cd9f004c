package model

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/copula"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/tt"
)

// MaxSamples is the largest number of samples.
const MaxSamples = 10_000

// maxSampleBytes bounds the memory of the drawn weights.
const maxSampleBytes = 4 << 30

// A SamplesError reports a number of samples that cannot be drawn.
type SamplesError struct{ Problem string }

func (e *SamplesError) Error() string { return "samples: " + e.Problem }

// samples are whole tensors drawn from a model. All cells of a sample share its
// weights, so sums over cells have the right variance. The noise is drawn per row.
type samples struct {
	n       int
	sampler *tt.Sampler // nil for a point estimate
	draws   []*tt.Draw
	engines *enginePool

	correction *conformal.Correction // centred, so that sums do not inherit its chance error; nil for none
	scores     bool                  // draws are normal scores of values, without the copula
}

// newSamples draws n tensors, which depend only on the model and n. Memory: n times
// the weights.
func (m *Model) newSamples(n, threads int) (*samples, error) {
	if n < 0 || n > MaxSamples {
		return nil, &SamplesError{fmt.Sprintf("%d is not a number from 1 to %d", n, MaxSamples)}
	}
	s := &samples{n: n, engines: m.engines}
	if n > 0 && m.correction != nil {
		s.correction = m.correction.Centred()
	}
	if n == 0 || !m.spec.Uncertainty.Bayesian() {
		return s, nil
	}
	engine := m.engines.threaded(threads)
	var err error
	if s.sampler, err = tt.NewSampler(engine, m.field, m.spec.Seed); err != nil {
		return nil, err
	}
	if err := checkSampleMemory(n, s.sampler.Bytes()); err != nil {
		return nil, err
	}
	s.draws = make([]*tt.Draw, n)
	backend.ParallelFor(engine, n, func(i int) {
		s.engines.use(func(own *cpu.Backend) { s.draws[i] = s.sampler.Draw(own, i) })
	})
	return s, nil
}

// checkSampleMemory returns an error if n draws of the given size exceed the limit.
func checkSampleMemory(n int, each int64) error {
	if int64(n)*each <= maxSampleBytes {
		return nil
	}
	return &SamplesError{fmt.Sprintf("%d draws of this model would take %.1f GiB of memory, and the limit is %d GiB; request %d or fewer",
		n, float64(n)*float64(each)/(1<<30), maxSampleBytes>>30, maxSampleBytes/each)}
}

// rows are the cells at which samples are evaluated.
type rows struct {
	Rows
	first int // number of the first row
	id    func(mode, row int) string
}

// fill writes the samples at rows to columns, one per sample, or to wide if that is not
// nil. The codes belong to m, and z holds its moments at the rows.
func (s *samples) fill(columns [][]float32, wide [][]float64, m *Model, z tt.Moments, r rows) error {
	if s.n == 0 {
		return nil
	}
	if err := s.fields(columns, m, z, r); err != nil {
		return err
	}
	values, levels := make([]float64, s.n), make([]float64, s.n)
	cells := m.Distributions(z, r.Rows)
	for i := range z.Mean {
		if err := m.CheckMoments(z, r.Rows, r.first, i); err != nil {
			return err
		}
		// Exposure and recent values move all draws alike.
		by := m.Level(z.Mean[i], r.Rows, i) - m.scale.Location(z.Mean[i])
		for k := range values {
			values[k] = m.scale.Location(columns[k][i]) + by
		}
		if err := checkAll(values, r.first+i, ""); err != nil {
			return err
		}
		s.drawRow(m, values, levels, &cells, r, i)
		if err := checkAll(values, r.first+i, ""); err != nil {
			return err
		}
		for k, v := range values {
			if wide != nil {
				wide[k][i] = v
			} else {
				columns[k][i] = float32(v)
			}
		}
	}
	return nil
}

// Samples draws values of cells jointly: row c of the result has n draws of cell c.
// Draws with the same number share their weights, so sums over cells are draws of
// the sum. It costs n times a prediction.
func (m *Model) Samples(ctx context.Context, cells []Cell, n int) ([][]float64, error) {
	if n < 1 {
		return nil, &SamplesError{fmt.Sprintf("%d is not a number from 1 to %d", n, MaxSamples)}
	}
	given, id, err := m.rowsOf(cells)
	if err != nil || len(cells) == 0 {
		return nil, err
	}
	codes := given.Codes
	drawn, err := m.newSamples(n, 0)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m = m.describeUnknown(codes, id)
	m.ForgetUntrained(codes)
	given.Horizon = m.horizons(codes, id)
	var z tt.Moments
	m.engines.use(func(engine *cpu.Backend) { z = m.Moments(engine, codes) })
	columns := make([][]float32, n)
	for k := range columns {
		columns[k] = make([]float32, len(cells))
	}
	var wide [][]float64
	if m.Wide() {
		wide = make([][]float64, n)
		for k := range wide {
			wide[k] = make([]float64, len(cells))
		}
	}
	if err := drawn.fill(columns, wide, m, z, rows{Rows: given, id: id}); err != nil {
		return nil, err
	}
	out := make([][]float64, len(cells))
	for c := range out {
		out[c] = make([]float64, n)
		for k := range columns {
			out[c][k] = float64(columns[k][c])
			if wide != nil {
				out[c][k] = wide[k][c]
			}
		}
		if err := checkAll(out[c], c, "cell"); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Draws are joint samples of the whole tensor for the batches of a table.
type Draws struct{ drawn *samples }

// NewDraws draws n tensors. They depend only on the model and n.
func (m *Model) NewDraws(n, threads int) (*Draws, error) {
	drawn, err := m.newSamples(n, threads)
	return &Draws{drawn}, err
}

// NewScoreDraws is NewDraws of normal scores of values, without what the copula adds.
func (m *Model) NewScoreDraws(n, threads int) (*Draws, error) {
	drawn, err := m.newSamples(n, threads)
	if err == nil {
		drawn.scores = true
	}
	return &Draws{drawn}, err
}

// Fill writes the draws at the rows of a batch, for which [Model.BatchPredictor] returned m
// and z, to wide, one slice per draw.
func (d *Draws) Fill(wide [][]float64, m *Model, z tt.Moments, b *tableio.Batch) error {
	return d.FillRows(wide, m, z, m.RowsOf(b), b.First, b.ID)
}

// FillRows writes the draws at rows with the moments z to wide, one slice per draw. first is the
// number of the first row, on which its noise depends, and id returns the id of a row.
func (d *Draws) FillRows(wide [][]float64, m *Model, z tt.Moments, given Rows, first int, id func(mode, row int) string) error {
	scratch := make([][]float32, len(wide))
	for k := range scratch {
		scratch[k] = make([]float32, len(z.Mean))
	}
	return d.drawn.fill(scratch, wide, m, z, rows{Rows: given, first: first, id: id})
}

// fields writes the drawn fields to columns.
func (s *samples) fields(columns [][]float32, m *Model, z tt.Moments, r rows) error {
	if s.sampler == nil {
		for k := range columns {
			copy(columns[k], z.Mean)
		}
		return nil
	}
	cells, err := s.sampler.Cells(m.field, r.Codes, func(modes []int, row int) uint64 {
		h := fnv.New64a()
		for _, mode := range modes {
			h.Write([]byte(r.id(mode, row)))
			h.Write([]byte{0})
		}
		return h.Sum64()
	})
	if err != nil {
		return err
	}
	s.engines.use(func(engine *cpu.Backend) {
		for k, d := range s.draws {
			d.Evaluate(engine, columns[k], cells)
		}
	})
	return nil
}

// drawRow turns draws of the field into draws of the target at row i. A draw keeps its level: the p-quantile without
// the conformal correction becomes the p-quantile with it, of which the copula changes p. The draws are then moved so that
// their mean is the predicted one. levels is scratch memory.
func (s *samples) drawRow(m *Model, values, levels []float64, cells *Distributions, r rows, i int) {
	// One stream per row, so that its noise depends only on its number.
	rng := randstream.New(m.spec.Seed, "noise", uint64(r.first+i))
	bare, own := s.distributions(cells, i)
	draw := m.noise.Draw()
	noise := 0.0
	if draw == nil {
		noise = math.Sqrt(m.noiseVariance(bare.Location(), r.Rows, i))
	}
	seed := rng.Uint64()
	for k, f := range values {
		if draw != nil {
			values[k] = draw(rng, f)
		} else {
			values[k] = m.scale.Transform.Inverse(f + noise*m.noise.DrawError(rng))
		}
	}
	shared := m.copula != nil && r.horizon(i) > 0
	if s.correction != nil || shared || s.scores {
		for k, v := range values {
			levels[k] = bare.PIT(v, seed, uint64(k))
		}
		if s.scores {
			copula.Scores(values, levels)
			return
		}
		if shared {
			m.copula.Mix(levels, m.spec.Seed, r.id, m.series.Keys, m.series.Time, i)
		}
		own.Quantiles(values, levels)
	} else if m.clampsDraws() {
		for k, v := range values {
			values[k] = max(v, 0)
		}
	}
	move := own.MoveOfDraws(cells.bare(i).Mean())
	for k, v := range values {
		values[k] = move.Apply(v, ^seed, uint64(k))
	}
}

// distributions returns the distribution of draws of row i without the conformal correction, in which a draw below 0 has a level too,
// and the one with it.
func (s *samples) distributions(cells *Distributions, i int) (bare, own predictive.Distribution) {
	m := cells.m
	own = *cells.bare(i)
	if bare = own.Unclamped(); !m.clampsDraws() {
		own = bare
	}
	if s.correction != nil && !m.outgrown(&cells.rows, i) {
		own = m.corrected(s.correction, own, cells.rows, i)
	}
	return bare, own
}

// clampsDraws reports whether draws below 0 become 0. On the identity scale draws may be negative even if the
// target cannot: clamping them would bias totals, because the noise does not shrink with the value.
func (m *Model) clampsDraws() bool { return m.scale.NonNegative && !m.scale.Transform.Linear() }

// Score returns the normal score of the value y of row i among its draws, without the copula.
func (d *Draws) Score(cells *Distributions, i int, y float64) float64 {
	_, own := d.drawn.distributions(cells, i)
	level := own.PIT(own.MoveOfDraws(cells.bare(i).Mean()).Undo(y), cells.m.spec.Seed, uint64(i))
	score := []float64{0}
	copula.Scores(score, []float64{level})
	return score[0]
}
