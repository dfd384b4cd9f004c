// Package ref is the reference backend: float64, one cell at a time, without
// sharing work between cells. The fast backends are tested against it, so it is
// written for readability.
//
// A cell costs O(P R^2), with second moments O(P R^3), and allocates its
// vectors.
package ref

import "github.com/kernel-fried-tensor/kft/backend"

// Backend implements backend.Backend on one thread.
type Backend struct{}

func (Backend) Name() string { return "ref" }
func (Backend) Threads() int { return 1 }

// slice returns the weights of one entity, left x right.
func slice(c backend.Slices, i int32) []float32 { return c.Mean[int(i)*c.Slice():][:c.Slice()] }

// sides returns, for each core, the product of the slices to its left (a row
// vector of its left rank) and to its right (a column vector of its right
// rank), and the value of the whole product.
func sides(cores []backend.Slices, cell []int32) (left, right [][]float64, value float64) {
	left, right = make([][]float64, len(cores)), make([][]float64, len(cores))
	row := []float64{1}
	for p, c := range cores {
		left[p] = row
		next := make([]float64, c.Right)
		g := slice(c, cell[p])
		for a, u := range row {
			for b := range next {
				next[b] += u * float64(g[a*c.Right+b])
			}
		}
		row = next
	}
	value = row[0]
	column := []float64{1}
	for p := len(cores) - 1; p >= 0; p-- {
		c := cores[p]
		right[p] = column
		next := make([]float64, c.Left)
		g := slice(c, cell[p])
		for a := range next {
			for b, v := range column {
				next[a] += float64(g[a*c.Right+b]) * v
			}
		}
		column = next
	}
	return left, right, value
}

// cells calls visit for each cell of the plan with its entities by core.
func cells(p *backend.Plan, visit func(c int, cell []int32)) {
	cell := make([]int32, len(p.Shapes))
	for j := range p.Nodes() {
		for level, core := range p.Chain {
			cell[core] = p.Entity[level][j]
		}
		for c := p.Start[j]; c < p.Start[j+1]; c++ {
			cell[p.Leaf] = p.LeafEntity[c]
			visit(int(c), cell)
		}
	}
}

func weightAt(w []float32, c int) float64 {
	if w == nil {
		return 1
	}
	return float64(w[c])
}

// Pass implements backend.Backend.
func (Backend) Pass(p *backend.Plan, cores []backend.Slices, job *backend.Job) float64 {
	p.Check(cores)
	if job.SecondMoments {
		return passSecondMoments(p, cores, job)
	}
	grad := make([][]float64, len(cores))
	for i := range job.Grad {
		if job.Grad[i].Mean != nil {
			grad[i] = make([]float64, cores[i].Len())
		}
	}
	loss := 0.0
	cells(p, func(c int, cell []int32) {
		left, right, f := sides(cores, cell)
		if job.Mean != nil {
			job.Mean[c] = float32(f)
		}
		var e float64
		w := weightAt(job.Weight, c)
		switch job.Adjoint {
		case backend.None:
			return
		case backend.Residual:
			r := float64(job.Target[c]) - f
			e = w * r
			loss += w * r * r
		case backend.Product:
			e = w * f
			loss += w * f * f
		case backend.Given:
			e = float64(job.Target[c])
		}
		for q, g := range grad {
			if g == nil {
				continue
			}
			s := cores[q].Shape
			at := g[int(cell[q])*s.Slice():]
			for a := range s.Left {
				for b := range s.Right {
					at[a*s.Right+b] += e * left[q][a] * right[q][b]
				}
			}
		}
	})
	for q, g := range grad {
		for k, v := range g {
			job.Grad[q].Mean[k] = float32(v)
		}
	}
	return loss
}

// NormalEquations implements backend.Backend.
func (Backend) NormalEquations(p *backend.Plan, cores []backend.Slices, target, weight []float32, visit backend.EquationsFunc) {
	p.Check(cores)
	r := p.LeafRank()
	gram := make(map[int32][]float64)
	rhs := make(map[int32][]float64)
	cells(p, func(c int, cell []int32) {
		e := cell[p.Leaf]
		if gram[e] == nil {
			gram[e], rhs[e] = make([]float64, r*r), make([]float64, r)
		}
		left, right, _ := sides(cores, cell)
		u := left[p.Leaf]
		if p.Leaf == 0 {
			u = right[0]
		}
		w := weightAt(weight, c)
		for a := range r {
			rhs[e][a] += w * float64(target[c]) * u[a]
			for b := range r {
				gram[e][a*r+b] += w * u[a] * u[b]
			}
		}
	})
	for e := range int32(p.Shapes[p.Leaf].N) {
		if gram[e] != nil {
			visit(0, int(e), gram[e], rhs[e])
		}
	}
}

// Evaluate implements backend.Backend.
func (Backend) Evaluate(dst []float32, cores []backend.Slices, index [][]int32) {
	cell := make([]int32, len(cores))
	for c := range dst {
		for p := range cores {
			cell[p] = index[p][c]
		}
		_, _, f := sides(cores, cell)
		dst[c] = float32(f)
	}
}

// Gemm implements backend.Backend.
func (Backend) Gemm(ta, tb bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	for i := range m {
		for j := range n {
			sum := 0.0
			for l := range k {
				ia, ib := i*lda+l, l*ldb+j
				if ta {
					ia = l*lda + i
				}
				if tb {
					ib = j*ldb + l
				}
				sum += float64(a[ia]) * float64(b[ib])
			}
			v := float64(alpha) * sum
			if beta != 0 {
				v += float64(beta) * float64(c[i*ldc+j])
			}
			c[i*ldc+j] = float32(v)
		}
	}
}
