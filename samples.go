package kft

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/stream"
	"github.com/kernel-fried-tensor/kft/tt"
)

// A QuantileError is a list of levels that no quantiles can be given for.
type QuantileError struct{ Problem string }

func (e *QuantileError) Error() string { return "--quantiles: " + e.Problem }

// CheckQuantiles refuses levels outside (0, 1) or out of order by a
// *QuantileError, and those that the model's conformal layer has too few rows for
// by a *calibrate.TooFewError.
func (m *Model) CheckQuantiles(levels []float64) error {
	for i, p := range levels {
		switch {
		case !(p > 0 && p < 1):
			return &QuantileError{fmt.Sprintf("%g is not between 0 and 1; write levels such as .05,.5,.95", p)}
		case i > 0 && p == levels[i-1]:
			return &QuantileError{fmt.Sprintf("%g is there twice", p)}
		case i > 0 && p < levels[i-1]:
			return &QuantileError{fmt.Sprintf("%g comes after %g; write levels in increasing order", p, levels[i-1])}
		}
	}
	if m.uncertain.layer == nil {
		return nil
	}
	for _, p := range levels {
		if err := m.uncertain.layer.Check(p); err != nil {
			return fmt.Errorf("quantile %g: %w", p, err)
		}
	}
	return nil
}

// quantileColumn and sampleColumn name columns of PredictFile.
func quantileColumn(level float64) string { return "q" + strconv.FormatFloat(level, 'g', -1, 64) }
func sampleColumn(i int) string           { return "sample_" + strconv.Itoa(i+1) }

// MaxSamples is the most samples that PredictFile adds.
const MaxSamples = 10_000

// maxSampleBytes bounds the memory of drawn weights.
const maxSampleBytes = 4 << 30

// samples are whole tensors drawn from a model: all cells of a sample share its
// weights, so that sums over cells have the spread they should, and each row has
// noise of its own.
type samples struct {
	n       int
	sampler *tt.Sampler // nil where the weights are known exactly
	draws   []*tt.Draw
	engines sync.Pool
}

// newSamples draws n tensors. They depend on the model and their number alone. It
// holds n times the weights in memory.
func (m *Model) newSamples(n, threads int) (*samples, error) {
	if n < 0 || n > MaxSamples {
		return nil, fmt.Errorf("--samples: %d is not a number from 1 to %d", n, MaxSamples)
	}
	path, err := cpu.Choose()
	if err != nil {
		return nil, err
	}
	s := &samples{n: n, engines: sync.Pool{New: func() any { return cpu.New(path, 1) }}}
	if n == 0 || !m.spec.Uncertainty.Bayesian() {
		return s, nil
	}
	engine := cpu.New(path, threads)
	if s.sampler, err = tt.NewSampler(engine, m.field, m.spec.Seed); err != nil {
		return nil, err
	}
	if err := checkSampleMemory(n, s.sampler.Bytes()); err != nil {
		return nil, err
	}
	s.draws = make([]*tt.Draw, n)
	backend.Each(engine, n, func(i int) {
		own := s.engines.Get().(*cpu.Backend)
		defer s.engines.Put(own)
		s.draws[i] = s.sampler.Draw(own, i)
	})
	return s, nil
}

// checkSampleMemory refuses draws of so many bytes each that do not fit into
// memory.
func checkSampleMemory(n int, each int64) error {
	if int64(n)*each <= maxSampleBytes {
		return nil
	}
	return fmt.Errorf("--samples: %d draws of this model would take %.1f GiB of memory, and %d GiB is the limit; ask for %d or fewer",
		n, float64(n)*float64(each)/(1<<30), maxSampleBytes>>30, maxSampleBytes/each)
}

// fill writes the samples at the rows of a batch to columns. m is the model that
// the codes are of, z its moments there.
func (s *samples) fill(columns [][]float32, m *Model, z tt.Moments, b *dataset.Batch) error {
	if s.n == 0 {
		return nil
	}
	if err := s.fields(columns, m, z, b); err != nil {
		return err
	}
	values, levels := make([]float64, s.n), make([]float64, s.n)
	for i := range z.Mean {
		// A stream a row: its noise depends on its number alone.
		rng := stream.New(m.spec.Seed, "noise", uint64(b.First+i))
		for k := range values {
			values[k] = m.scale.Level(columns[k][i])
		}
		m.drawRow(values, levels, z, b.Codes, i, rng)
		for k, v := range values {
			columns[k][i] = float32(v)
		}
	}
	return nil
}

// fields writes the drawn fields to columns.
func (s *samples) fields(columns [][]float32, m *Model, z tt.Moments, b *dataset.Batch) error {
	if s.sampler == nil {
		for k := range columns {
			copy(columns[k], z.Mean)
		}
		return nil
	}
	cells, err := s.sampler.Cells(m.field, b.Codes, func(modes []int, row int) uint64 {
		h := fnv.New64a()
		for _, mode := range modes {
			h.Write([]byte(b.ID(mode, row)))
			h.Write([]byte{0})
		}
		return h.Sum64()
	})
	if err != nil {
		return err
	}
	engine := s.engines.Get().(*cpu.Backend)
	defer s.engines.Put(engine)
	for k, d := range s.draws {
		d.Evaluate(engine, columns[k], cells)
	}
	return nil
}

// drawRow turns levels of drawn fields into draws of the target at row i. With a
// conformal layer a draw keeps its level: what is the p-quantile without the layer
// becomes the p-quantile with it. levels is scratch.
func (m *Model) drawRow(values, levels []float64, z tt.Moments, codes [][]int32, i int, rng *rand.Rand) {
	u := &m.uncertain
	counts := u.count() != nil
	noise := 0.0
	if !counts {
		noise = math.Sqrt(u.noise(m.scale.Level(z.Mean[i]), codes, i))
	}
	seed := rng.Uint64()
	for k, f := range values {
		if counts {
			values[k] = u.drawCount(rng, f)
		} else {
			values[k] = m.transform.Inverse(f + noise*rng.NormFloat64())
		}
	}
	if u.layer == nil {
		return
	}
	bare := m.bare(z, codes, i)
	for k, v := range values {
		levels[k] = bare.PIT(v, seed, uint64(k))
	}
	m.predictive(z, codes, i).Quantiles(values, levels)
}

// drawCount draws a count given the field.
func (u *uncertainty) drawCount(rng *rand.Rand, f float64) float64 {
	if u.Poisson != nil {
		return u.Poisson.Draw(rng, f)
	}
	return u.Negative.Draw(rng, f)
}
