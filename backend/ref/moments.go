package ref

import "github.com/kernel-fried-tensor/kft/backend"

// moments are the mean u and the covariance C of the product of the cores to
// the left of a core, a row vector of its left rank.
type moments struct {
	u []float64
	c [][]float64
}

func newMoments(r int) moments { return moments{make([]float64, r), square(r)} }

func square(r int) [][]float64 {
	m := make([][]float64, r)
	for a := range m {
		m[a] = make([]float64, r)
	}
	return m
}

// second returns E u u' = u u' + C.
func (m moments) second() [][]float64 {
	e := square(len(m.u))
	for a := range e {
		for c := range e {
			e[a][c] = m.u[a]*m.u[c] + m.c[a][c]
		}
	}
	return e
}

// factor is one slice of a core, left x right: the means of its entries and
// their variances or covariances K, indexed by entry a right + b and entry c
// right + d.
type factor struct {
	left, right int
	mean        []float32
	variance    []float32
	covariance  []float32
}

func factorAt(c backend.Slices, entity int32) factor {
	f := factor{left: c.Left, right: c.Right, mean: slice(c, entity)}
	n := c.Slice()
	if c.Var != nil {
		f.variance = c.Var[int(entity)*n:][:n]
	}
	if c.Cov != nil {
		f.covariance = c.Cov[int(entity)*n*n:][:n*n]
	}
	return f
}

// visitCovariances calls visit for the pairs of entries (a, b) and (c, d) that
// may covary, with their covariance.
func (f factor) visitCovariances(visit func(a, b, c, d int, k float64)) {
	for i, s := range f.variance {
		visit(i/f.right, i%f.right, i/f.right, i%f.right, float64(s))
	}
	n := len(f.mean)
	for i, k := range f.covariance {
		x, y := i/n, i%n
		visit(x/f.right, x%f.right, y/f.right, y%f.right, float64(k))
	}
}

func (f factor) at(a, b int) float64 { return float64(f.mean[a*f.right+b]) }

// times returns the moments of the product with a slice,
//
//	u <- M'u,   C_bd <- (M'C M)_bd + sum_ac K_(ab)(cd) (u u' + C)_ac.
func (f factor) times(old moments) moments {
	next := newMoments(f.right)
	half := make([][]float64, f.left) // C M
	for a := range half {
		half[a] = make([]float64, f.right)
		for c := range f.left {
			for d := range f.right {
				half[a][d] += old.c[a][c] * f.at(c, d)
			}
		}
	}
	for a := range f.left {
		for b := range f.right {
			next.u[b] += f.at(a, b) * old.u[a]
			for d := range f.right {
				next.c[b][d] += f.at(a, b) * half[a][d]
			}
		}
	}
	second := old.second()
	f.visitCovariances(func(a, b, c, d int, k float64) { next.c[b][d] += k * second[a][c] })
	return next
}

// backward maps the adjoints of times(old) to those of old. It adds the
// adjoints of the slice to the sums that are requested.
func (f factor) backward(old, adjoint moments, to sums) moments {
	back := newMoments(f.left)
	right := make([][]float64, f.left) // M Chat
	for a := range right {
		right[a] = make([]float64, f.right)
		for b := range f.right {
			for d := range f.right {
				right[a][d] += f.at(a, b) * adjoint.c[b][d]
			}
		}
	}
	for a := range f.left {
		for b := range f.right {
			back.u[a] += f.at(a, b) * adjoint.u[b]
			for c := range f.left {
				back.c[a][c] += right[a][b] * f.at(c, b)
			}
			if to.mean == nil {
				continue
			}
			to.mean[a*f.right+b] += old.u[a] * adjoint.u[b]
			for c := range f.left {
				to.mean[a*f.right+b] += 2 * old.c[a][c] * right[c][b]
			}
		}
	}
	second := old.second()
	f.visitCovariances(func(a, b, c, d int, k float64) { // E = u u' + C
		pulled := k * adjoint.c[b][d]
		back.c[a][c] += pulled
		back.u[a] += pulled * old.u[c]
		back.u[c] += pulled * old.u[a]
	})
	for i := range to.variance {
		a, b := i/f.right, i%f.right
		to.variance[i] += second[a][a] * adjoint.c[b][b]
	}
	n := f.left * f.right
	for i := range to.covariance {
		x, y := i/n, i%n
		to.covariance[i] += second[x/f.right][y/f.right] * adjoint.c[x%f.right][y%f.right]
	}
	return back
}

// sums are gradients in float64. Those that are not requested are nil.
type sums struct{ mean, variance, covariance []float64 }

func sumsFor(g backend.Slices) sums {
	wide := func(v []float32) []float64 {
		if v == nil {
			return nil
		}
		return make([]float64, len(v))
	}
	return sums{wide(g.Mean), wide(g.Var), wide(g.Cov)}
}

// at returns the part of one entity, whose slice has n entries.
func (s sums) at(entity int32, n int) sums {
	part := func(v []float64, n int) []float64 {
		if v == nil {
			return nil
		}
		return v[int(entity)*n:][:n]
	}
	return sums{part(s.mean, n), part(s.variance, n), part(s.covariance, n*n)}
}

// passSecondMoments is Pass with second moments: for every cell the recursion
// from left to right, and back.
func passSecondMoments(p *backend.Plan, cores []backend.Slices, job *backend.Job) float64 {
	grad := make([]sums, len(cores))
	for i := range job.Grad {
		grad[i] = sumsFor(job.Grad[i])
	}
	loss := 0.0
	cells(p, func(c int, cell []int32) {
		before := make([]moments, len(cores))
		m := newMoments(1)
		m.u[0] = 1
		for q, core := range cores {
			before[q] = m
			m = factorAt(core, cell[q]).times(m)
		}
		mean, variance := m.u[0], m.c[0][0]
		if job.Mean != nil {
			job.Mean[c] = float32(mean)
		}
		if job.Var != nil {
			job.Var[c] = float32(variance)
		}
		adjoint := newMoments(1)
		w := weightAt(job.Weight, c)
		switch job.Adjoint {
		case backend.None:
			return
		case backend.Residual:
			r := float64(job.Target[c]) - mean
			adjoint.u[0], adjoint.c[0][0] = w*r, -w/2
			loss += w * (r*r + variance)
		case backend.Product:
			adjoint.u[0], adjoint.c[0][0] = w*mean, w/2
			loss += w * (mean*mean + variance)
		case backend.Given:
			adjoint.u[0] = float64(job.Target[c])
			if job.VarAdjoint != nil {
				adjoint.c[0][0] = float64(job.VarAdjoint[c])
			}
		}
		for q := len(cores) - 1; q >= 0; q-- {
			adjoint = factorAt(cores[q], cell[q]).backward(before[q], adjoint, grad[q].at(cell[q], cores[q].Slice()))
		}
	})
	for q := range job.Grad {
		narrow(job.Grad[q].Mean, grad[q].mean)
		narrow(job.Grad[q].Var, grad[q].variance)
		narrow(job.Grad[q].Cov, grad[q].covariance)
	}
	return loss
}

func narrow(dst []float32, src []float64) {
	for i, v := range src {
		dst[i] = float32(v)
	}
}
