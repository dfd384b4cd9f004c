package tt

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/gather"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/tt/seriesterm"
)

// A Field is a sum of products of trains,
//
//	f = sum over groups g of the product of the terms k with Group[k] = g,
//
// which is a plain sum in most models. Latent scaling is f_s f_r + f_b: groups 0,
// 0, 1.
//
// plus an offset, one weight with a flat prior that all cells share.
type Field struct {
	Terms  []*Train
	Group  []int  // nil: each term is a group of its own
	Offset Offset // zero for fields without one

	// Response is the factor by which draws widen the posterior for the covariance between
	// blocks that it lacks, see package response; below 1 means 1.
	Response float64

	// Series are added to the trains.
	Series []*seriesterm.Term
}

// An Offset is the constant of a field. Its variance is that of its posterior; it is
// part of the variance of every cell and of every draw, so that totals over many cells
// have the right distribution.
type Offset struct{ Mean, Var float32 }

// Partners returns the other factors in the group of term k.
func (f *Field) Partners(k int) []int {
	if k >= len(f.Group) { // a sum of terms, or a series term
		return nil
	}
	var others []int
	for j, g := range f.Group {
		if j != k && g == f.Group[k] {
			others = append(others, j)
		}
	}
	return others
}

// leads reports whether term k is the first of its group.
func (f *Field) leads(k int) bool {
	others := f.Partners(k)
	return len(others) == 0 || others[0] > k
}

// Moments holds the mean and the variance of a field at cells. Var is nil if the
// weights are known exactly.
type Moments struct {
	Mean, Var []float32
	Work      *Workspace // memory for their evaluation, which evaluations of other cells may reuse; may be nil
	found     *found
}

// A Workspace is memory of evaluations that follow each other: new memory has to be cleared.
type Workspace struct{ arrays [][]float32 }

// take returns arrays of n values of any content. Each is cleared by one thread if it is new.
func (w *Workspace) take(threads, arrays, n int) [][]float32 {
	if w == nil {
		w = &Workspace{}
	}
	if len(w.arrays) < arrays {
		w.arrays = append(w.arrays, make([][]float32, arrays-len(w.arrays))...)
	}
	taken := make([][]float32, arrays)
	parallel.For(threads, arrays, func(i int) {
		if w.arrays[i] == nil || cap(w.arrays[i]) < n {
			w.arrays[i] = make([]float32, n)
		}
		taken[i] = w.arrays[i][:n:n]
	})
	return taken
}

// Select returns the moments of some rows.
func (z Moments) Select(rows []int) Moments {
	return Moments{Mean: gather.Rows(z.Mean, rows), Var: gather.Rows(z.Var, rows)}
}

// Gradients holds one gradient per core: [term][core].
type Gradients [][]backend.Slices

// Linear reports whether the field is linear in all its weights together: it has series
// and effects, no product of cores.
func (f *Field) Linear() bool {
	return f.Group == nil && !slices.ContainsFunc(f.Terms, func(t *Train) bool { return len(t.Cores) > 1 })
}

// NewGradients returns zero gradients with respect to the slices of all cores.
func (f *Field) NewGradients() Gradients {
	g := make(Gradients, len(f.Terms))
	for k, t := range f.Terms {
		for _, shape := range t.Shapes() {
			g[k] = append(g[k], backend.NewSlices(shape))
		}
	}
	return g
}

// Weights returns the number of weights.
func (f *Field) Weights() int {
	n := 0
	for _, t := range f.Terms {
		n += t.Weights()
	}
	for _, s := range f.Series {
		n += len(s.Value)
	}
	return n
}

// Arrays returns the memory of all weights of the terms, with what is known about them.
func (f *Field) Arrays() (arrays [][]float32) {
	for _, t := range f.Terms {
		for _, c := range t.Cores {
			for _, b := range c.Blocks() {
				arrays = append(append(append(arrays, b.Value), b.Posterior.Arrays()...), b.Along.Arrays()...)
			}
		}
	}
	return arrays
}

// fillOffset sets all values to the mean of the offset.
func (f *Field) fillOffset(threads int, dst []float32) {
	parallel.Parts(threads, len(dst), func(from, to int) {
		for i := range dst[from:to] {
			dst[from+i] = f.Offset.Mean
		}
	})
}

func wanted(grad []backend.Slices) bool {
	for _, g := range grad {
		if g.Mean != nil {
			return true
		}
	}
	return false
}

// addProducts adds the groups of several factors to dst, given the value of each
// term.
func (f *Field) addProducts(dst []float32, value [][]float32) {
	for k := range f.Terms {
		partners := f.Partners(k)
		if len(partners) == 0 || !f.leads(k) {
			continue
		}
		for i, v := range value[k] {
			for _, j := range partners {
				v *= value[j][i]
			}
			dst[i] += v
		}
	}
}

// Evaluate writes the mean of the field at any cells to dst. It makes no plan,
// which suits cells that are evaluated once. A joint core with side information is
// computed for combinations that did not occur in training. O(P R^2) per cell and
// term.
func (f *Field) Evaluate(b backend.Backend, dst []float32, codes [][]int32) {
	f.fillOffset(b.Threads(), dst)
	value := make([][]float32, len(f.Terms))
	for k, t := range f.Terms {
		value[k] = make([]float32, len(dst))
		slices, index := t.localized(b, codes)
		b.Evaluate(value[k], slices, index)
		if len(f.Partners(k)) == 0 {
			parallel.Parts(b.Threads(), len(dst), func(from, to int) {
				for i, v := range value[k][from:to] {
					dst[from+i] += v
				}
			})
		}
	}
	f.addProducts(dst, value)
	f.addSeries(b, dst, codes, nil)
}

// localized returns the slices of a train and the entities of the rows of codes. It
// computes the slices of joint cores with side information for combinations that
// did not occur in training.
func (t *Train) localized(b backend.Backend, codes [][]int32) ([]backend.Slices, [][]int32) {
	return t.localize(b, codes, t.lookup(nil, b.Threads(), codes))
}

// localize is localized, given the entities of the rows. It leaves them as they are.
func (t *Train) localize(b backend.Backend, codes, entities [][]int32) ([]backend.Slices, [][]int32) {
	slices, index := t.Slices(), append([][]int32(nil), entities...)
	for p, c := range t.Cores {
		if c.Map != nil && len(c.Modes) > 1 {
			slices[p], index[p] = c.localize(b, codes, index[p])
		}
	}
	return slices, index
}
