// Package fit trains a field: it minimises
//
//	sum_n w_n (y_n - f_n)^2 + sum over cores and entities lambda_e |G(e)|^2
//
// over the weights of its cores. A solver visits blocks of weights in turn;
// around the solvers stand, once for all of them, the schedule, early stopping
// on validation data, the choice of the penalty, checkpoints and progress.
//
// Nothing here depends on the clock but the moment at which a run is stopped:
// the same problem and options give the same bits, on any number of threads,
// whether or not the run was interrupted and resumed.
package fit

import (
	"errors"
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Observations are cells with values. Codes holds a column of codes a mode; W
// nil means weight 1 everywhere.
type Observations struct {
	Codes [][]int32
	Y, W  []float32
}

// Len returns the number of observations.
func (o *Observations) Len() int { return len(o.Y) }

// Problem is a field and the data to fit it to. Targets should have mean near
// 0 and variance near 1. Valid may be empty.
type Problem struct {
	Field        *tt.Field
	Backend      backend.Backend
	Train, Valid Observations
	Kernels      []Kernel // operators to learn, none in most fits
}

// data is the problem as the solvers see it: plans, weights of mean 1, and
// scratch memory in the order of the training observations.
type data struct {
	field   *tt.Field
	b       backend.Backend
	y, w    []float32 // w nil means 1
	counts  [][][]float64
	noise   [1]float32  // where weights vary, the variance of an observation of weight 1
	size    [1]float32  // of a negative binomial
	tally   *countData  // where targets are counts
	reweigh *reweighing // where observations count by their noise
	passes  int

	expected func() float64 // where weights vary, the expected loss as they are
	phase    phase          // of adam

	validChunk *tt.Chunk
	validY     []float32
	validW     []float32
	validMean  []float32

	kernels    []*kernelBlock
	trainChunk *tt.Chunk // for them
	trainMean  []float32
	pull       func(adjoint []float32, grad tt.Gradients)
}

func newData(p *Problem) (*data, error) {
	if p.Train.Len() == 0 {
		return nil, errors.New("fit: no training observations")
	}
	if len(p.Field.Terms) == 0 {
		return nil, errors.New("fit: the model has no terms")
	}
	d := &data{field: p.Field, b: p.Backend, y: p.Train.Y}
	var err error
	if d.w, err = unitWeights(p.Train.W); err != nil {
		return nil, err
	}
	if p.Valid.Len() > 0 {
		d.validChunk = p.Field.NewChunk(p.Valid.Codes)
		d.validY, d.validW = p.Valid.Y, p.Valid.W
		d.validMean = make([]float32, p.Valid.Len())
	}
	if d.kernels = newKernelBlocks(p.Field, p.Kernels); len(d.kernels) > 0 {
		d.trainChunk, d.trainMean = p.Field.NewChunk(p.Train.Codes), make([]float32, p.Train.Len())
	}
	d.counts = make([][][]float64, len(p.Field.Terms))
	for k, t := range p.Field.Terms {
		for c, column := range t.Lookup(p.Train.Codes) {
			n := make([]float64, t.Cores[c].Slices.N)
			for i, e := range column {
				n[e] += weightAt(d.w, i)
			}
			d.counts[k] = append(d.counts[k], n)
		}
	}
	return d, nil
}

// unitWeights scales weights to mean 1, so that a penalty means the same
// whatever their unit.
func unitWeights(w []float32) ([]float32, error) {
	if w == nil {
		return nil, nil
	}
	sum := 0.0
	for _, v := range w {
		sum += float64(v)
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return nil, fmt.Errorf("fit: the training weights sum to %g; they must be finite and not all zero", sum)
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

// validLoss returns the weighted mean square error on validation data, of counts
// the mean negative log likelihood, NaN without any.
func (d *data) validLoss() float64 {
	if d.tally != nil {
		return d.validCounts()
	}
	if d.validChunk == nil {
		return math.NaN()
	}
	d.field.Eval(d.b, tt.Moments{Mean: d.validMean}, d.validChunk)
	return meanSquare(d.validY, d.validMean, d.validW)
}

func meanSquare(y, f, w []float32) float64 {
	loss, total := 0.0, 0.0
	for i := range y {
		r, weight := float64(y[i])-float64(f[i]), weightAt(w, i)
		loss += weight * r * r
		total += weight
	}
	return loss / total
}
