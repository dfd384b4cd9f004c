package update

import (
	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt"
)

// A design is the product of all slices of a train but one, at a row: its mean x, r
// entries, and its covariance c, r x r. For a train of one core they are 1 and nil.
type design struct {
	x, c     []float64
	diagonal bool     // c has no other entries
	lost     float64  // variance of what the curves do not span
	spread   []spread // covariances of a design of curves, in place of c
}

// slice is the slice of one entity.
type slice struct {
	left, right    int
	mean, variance []float32
	cov            []float32 // of an outer core; nil for independent entries
}

func sliceOf(s backend.Slices, e int32) slice {
	size := s.Slice()
	out := slice{left: s.Left, right: s.Right, mean: s.Mean[int(e)*size:][:size]}
	if s.Cov != nil {
		out.cov = s.Cov[int(e)*size*size:][:size*size]
	} else {
		out.variance = s.Var[int(e)*size:][:size]
	}
	return out
}

// designOf returns the design of the first or the last core of a train, given the entities
// of a row. It follows the recursion u <- M u, C <- M C M' + diag(S (u^2 + diag C)) from
// the other end.
func designOf(t *tt.Train, entities []int32, core int) design {
	n := len(t.Cores)
	if n == 1 {
		return design{x: []float64{1}}
	}
	transposed := core != 0 // the chain runs from the first core to the last
	at := func(step int) slice {
		p := n - 1 - step
		if transposed {
			p = step
		}
		return sliceOf(t.Cores[p].Slices, entities[p])
	}
	end := at(0)
	r := len(end.mean)
	d := design{x: make([]float64, r), c: make([]float64, r*r)}
	for i, v := range end.mean {
		d.x[i] = float64(v)
		if end.cov == nil {
			d.c[i*r+i] = float64(end.variance[i])
		}
	}
	for i, v := range end.cov {
		d.c[i] = float64(v)
	}
	d.diagonal = end.cov == nil
	for step := 1; step < n-1; step++ {
		d = d.through(at(step), transposed)
	}
	return d
}

// through multiplies the design by a slice.
func (d design) through(s slice, transposed bool) design {
	rows, columns := s.left, s.right
	entry := func(i, j int) int { return i*s.right + j }
	if transposed {
		rows, columns = columns, rows
		entry = func(i, j int) int { return j*s.right + i }
	}
	out := design{x: make([]float64, rows), c: make([]float64, rows*rows)}
	half := make([]float64, rows*columns) // M C
	for i := range rows {
		extra := 0.0
		for j := range columns {
			at := entry(i, j)
			m := float64(s.mean[at])
			out.x[i] += m * d.x[j]
			extra += float64(s.variance[at]) * (d.x[j]*d.x[j] + d.c[j*columns+j])
			if d.diagonal {
				half[i*columns+j] = m * d.c[j*columns+j]
				continue
			}
			for k, c := range d.c[j*columns:][:columns] {
				half[i*columns+k] += m * c
			}
		}
		out.c[i*rows+i] = extra
	}
	mean := make([]float64, rows*columns)
	for i := range rows {
		for j := range columns {
			mean[i*columns+j] = float64(s.mean[entry(i, j)])
		}
	}
	for i := range rows {
		for k := range i + 1 {
			sum := 0.0
			own := mean[k*columns:][:columns]
			for j, h := range half[i*columns:][:columns] {
				sum += h * own[j]
			}
			out.c[i*rows+k] += sum
			if k != i {
				out.c[k*rows+i] = out.c[i*rows+k]
			}
		}
	}
	return out
}
