package solver

import (
	"errors"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// Observations are cells with values.
type Observations struct {
	Codes [][]int32 // one column of codes per mode
	Y     []float32
	W     []float32 // nil means weight 1

	Exposure []float32 // of counts; nil means 1
	Censored []float32 // above 0 for values known from below only; nil for none

	// Low is what float32 takes from Y in the user's units, see dataset.Table; nil for
	// nothing. Solvers do not use it.
	Low []float32
}

// Target returns value i in the user's units.
func (o *Observations) Target(i int) float64 { return dataset.TargetAt(o.Y, o.Low, i) }

// Len returns the number of observations.
func (o *Observations) Len() int { return len(o.Y) }

// Problem is a field and the data to fit it to. Targets should have a mean near 0
// and a variance near 1. Valid, the validation set, may be empty.
type Problem struct {
	Field        *tt.Field
	Backend      backend.Backend
	Train, Valid Observations
	Kernels      []Kernel // operators to learn; usually none
	Offset       bool     // learn the offset of the field; otherwise it stays 0

	// Divided says that each rank of the backend has its run of Train alone, see backend.RowRuns,
	// in arrays of the whole length. The solver must be als or cavi, with Gaussian noise and a
	// validation set, for a plain sum of trains without weights.
	Divided bool
}

// data is the problem in the form the solvers use: weights of mean 1, learned noise
// parameters, and scratch memory in the order of the observations.
type data struct {
	field         *tt.Field
	b             backend.Backend
	y, w          []float32     // w nil means weight 1
	divided       bool          // see Problem.Divided
	entities      [][][]int32   // of the observations: [term][core]; nil once they are planned
	entityWeights [][][]float64 // summed observation weights: [term][core][entity]
	offset        bool          // the offset of the field is learned
	noise         [1]float32    // posteriors: the variance of an observation of weight 1
	wideCurves    bool          // curves per id start with a wide prior, as in a run after they vanished
	temper        float64       // factor of the learned noise, below 1 in the first sweeps of a tempered run; 0 means 1
	givenNoise    float32       // noise that is not learned; 0 for none
	givenPrior    float32       // prior variance of all blocks that is not learned; 0 for none
	parameters    []float32     // of the likelihood, if it has sites
	sites         *sites        // nil for Gaussian noise
	noiseWeights  *noiseWeights // nil unless observations are weighted by their noise
	passes        int
	startLambda   float64  // see startRidge; 0 until it is needed
	validScale    *float64 // see scoreScale; nil until it is needed

	expectedLoss func() float64 // posteriors: computes the expected loss at the current weights
	phase        phase          // of adam

	offered offered // the structure of the specification
	reshape func()  // adapts cavi to another shape of the field; nil for other solvers

	validChunk              *tt.Chunk
	validY                  []float32
	validW                  []float32
	exposure, validExposure []float32
	censored, validCensored []float32
	validMean               []float32

	memory     [2][]float32 // see scratch
	unit       []float32    // see ones
	series     []*seriesValues
	kernels    []*kernelBlock
	trainChunk *tt.Chunk // used by the kernels
	trainMean  []float32
	pull       func(adjoint []float32, grad tt.Gradients)
}

func newData(p *Problem) (*data, error) {
	if p.Train.Len() == 0 {
		return nil, errors.New("solver: no training observations")
	}
	if len(p.Field.Terms) == 0 && len(p.Field.Series) == 0 {
		return nil, errors.New("solver: the model has no terms")
	}
	if p.Divided && (p.Valid.Len() == 0 || p.Train.W != nil || len(p.Kernels) > 0) {
		panic("solver: divided observations need a validation set, and neither weights nor kernels to learn")
	}
	d := &data{field: p.Field, b: p.Backend, divided: p.Divided, y: p.Train.Y, offset: p.Offset, exposure: p.Train.Exposure, censored: p.Train.Censored}
	var err error
	if d.w, err = normalizeWeights(p.Train.W); err != nil {
		return nil, err
	}
	d.newSeries(p.Train)
	if p.Valid.Len() > 0 {
		d.validChunk = p.Field.NewChunk(d.b, p.Valid.Codes)
		d.validY, d.validW, d.validExposure = p.Valid.Y, p.Valid.W, p.Valid.Exposure
		d.validCensored = p.Valid.Censored
		d.validMean = backend.Make[float32](d.b, p.Valid.Len())
	}
	if d.kernels = newKernelBlocks(p.Field, p.Kernels); len(d.kernels) > 0 {
		d.trainChunk, d.trainMean = p.Field.NewChunk(d.b, p.Train.Codes), backend.Make[float32](d.b, p.Train.Len())
	}
	d.entities = make([][][]int32, len(p.Field.Terms))
	d.entityWeights = make([][][]float64, len(p.Field.Terms))
	if ranks := backend.RanksOf(d.b); ranks != nil { // they may not need all of the entities
		d.entityWeights = countEntities(ranks, p.Field.Terms, p.Train.Codes, d.w)
	} else {
		d.lookUpEntities(p.Train.Codes)
	}
	d.offered = offered{terms: p.Field.Terms, entityWeights: d.entityWeights, valid: p.Valid}
	for _, t := range p.Field.Terms {
		d.offered.ranks = append(d.offered.ranks, t.Ranks())
	}
	return d, nil
}

// lookUpEntities looks up the entities of the observations and sums the weights of those of each.
func (d *data) lookUpEntities(codes [][]int32) {
	var sums []func()
	for k, t := range d.field.Terms {
		d.entities[k] = t.LookupOn(d.b, d.b.Threads(), codes)
		d.entityWeights[k] = make([][]float64, len(t.Cores))
		for c, column := range d.entities[k] {
			n := make([]float64, t.Cores[c].Slices.N)
			d.entityWeights[k][c] = n
			sums = append(sums, func() {
				for i, e := range column {
					n[e] += weightAt(d.w, i)
				}
			})
		}
	}
	parallel.For(d.b.Threads(), len(sums), func(i int) { sums[i]() })
}

// countEntities returns the summed weights of the observations of each entity, by term and core. Of
// observations without weights each rank counts a run.
func countEntities(ranks backend.Ranks, terms []*tt.Train, codes [][]int32, w []float32) [][][]float64 {
	first, rows := 0, len(codes[0])
	if w == nil {
		bounds := backend.RowRuns(rows, ranks.Size())
		first, rows = bounds[ranks.Rank()], bounds[ranks.Rank()+1]
	}
	block, part := make([]int32, parallel.Block), make([][]int32, len(codes))
	count := func(core *tt.Core) []float64 {
		sums := make([]float64, core.Slices.N)
		for from := first; from < rows; from += len(block) {
			block := block[:min(len(block), rows-from)]
			for m, column := range codes {
				part[m] = column[from:][:len(block)]
			}
			core.Index.Lookup(block, part)
			for i, e := range block {
				sums[e] += weightAt(w, from+i)
			}
		}
		if w == nil {
			sums = peers.Sum(ranks, sums)
		}
		return sums
	}
	known := map[*entity.Index][]float64{} // terms with the same core share its index
	sums := make([][][]float64, len(terms))
	for k, t := range terms {
		for _, core := range t.Cores {
			if known[core.Index] == nil {
				known[core.Index] = count(core)
			}
			sums[k] = append(sums[k], slices.Clone(known[core.Index]))
		}
	}
	return sums
}

// normalizeWeights scales weights to mean 1, so that the meaning of a penalty does
// not depend on their unit.
func normalizeWeights(w []float32) ([]float32, error) {
	if w == nil {
		return nil, nil
	}
	sum := 0.0
	for _, v := range w {
		sum += float64(v)
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return nil, fielderr.Errorf("data.weight", "solver: the training weights sum to %g; they must be finite and not all zero", sum)
	}
	out := make([]float32, len(w))
	for i, v := range w {
		out[i] = float32(float64(v) * float64(len(w)) / sum)
	}
	return out, nil
}

func weightAt(w []float32, i int) float64 {
	if w == nil {
		return 1
	}
	return float64(w[i])
}

func (d *data) pass(p *backend.Plan, cores []backend.Slices, job *backend.Job) float64 {
	d.passes++
	return d.b.Pass(p, cores, job)
}

// scratch returns the n-th array for gradients, which keeps its memory. Its content is
// undefined. All threads write to it at any place.
func (d *data) scratch(n, size int) []float32 {
	if cap(d.memory[n]) < size {
		paged.Free(backend.Pages(d.b), d.memory[n])
		d.memory[n] = paged.Keep[float32](backend.Pages(d.b), size)
	}
	return d.memory[n][:size]
}

// freeScratch gives back the arrays that scratch keeps.
func (d *data) freeScratch() {
	backend.FreeAll(d.b, d.memory[:])
	clear(d.memory[:])
}

// ones returns weights of 1 at the cells of a plan that this process has, which keep their memory.
func (d *data) ones(p *backend.Plan) []float32 {
	n := p.Cells()
	if p.Share != nil {
		if len(d.unit) < n {
			d.unit = backend.Make[float32](d.b, n)
		}
		from, to := p.Share.OwnCells()
		for i := from; i < to; i++ {
			d.unit[i] = 1
		}
		return d.unit[:n]
	}
	if len(d.unit) < n {
		d.unit = backend.Make[float32](d.b, n)
		for i := range d.unit {
			d.unit[i] = 1
		}
	}
	return d.unit[:n]
}

// validLoss returns the weighted mean squared error on the validation set, for
// counts the mean negative log likelihood. It is NaN without a validation set.
func (d *data) validLoss() float64 {
	if d.sites != nil {
		return d.validSiteLoss()
	}
	if d.validChunk == nil {
		return math.NaN()
	}
	d.field.Eval(d.b, tt.Moments{Mean: d.validMean}, d.validChunk)
	return meanSquare(d.b.Threads(), d.validY, d.validMean, d.validW)
}

func meanSquare(threads int, y, f, w []float32) float64 {
	type sums struct{ loss, weight float64 }
	s := parallel.Reduce(threads, len(y), func(from, to int) (s sums) {
		for i := from; i < to; i++ {
			r, weight := float64(y[i])-float64(f[i]), weightAt(w, i)
			s.loss += weight * r * r
			s.weight += weight
		}
		return s
	}, func(a, b sums) sums { return sums{a.loss + b.loss, a.weight + b.weight} })
	return s.loss / s.weight
}

// Select returns a copy of the given rows, in their order.
func (o Observations) Select(rows []int) Observations { return SelectOn(nil, o, rows) }

// SelectOn is Select with the memory of a backend.
func SelectOn[T int | int32](b backend.Backend, o Observations, rows []T) Observations {
	out := Observations{Codes: make([][]int32, len(o.Codes)), Y: selectRows(b, o.Y, rows)}
	for m := range o.Codes {
		out.Codes[m] = selectRows(b, o.Codes[m], rows)
	}
	out.W, out.Exposure = selectRows(b, o.W, rows), selectRows(b, o.Exposure, rows)
	out.Censored, out.Low = selectRows(b, o.Censored, rows), selectRows(b, o.Low, rows)
	return out
}

// selectRows returns the values at some rows, nil for nil.
func selectRows[V int32 | float32, T int | int32](b backend.Backend, values []V, rows []T) []V {
	if values == nil {
		return nil
	}
	out, threads := backend.Make[V](b, len(rows)), 1
	if b != nil {
		threads = b.Threads()
	}
	parallel.Blocks(threads, len(rows), func(from, to int) {
		for i, row := range rows[from:to] {
			out[from+i] = values[row]
		}
	})
	return out
}
