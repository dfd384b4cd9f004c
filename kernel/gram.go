package kernel

import (
	"fmt"
	"math"
)

// chunk returns the number of rows processed at a time if each has width
// values. It bounds scratch memory and fixes the order of sums for any number
// of threads.
func chunk(width int) int { return max(256, min(1<<20/max(width, 1), 1<<14)) }

// Gram writes k(x_i, z_j) to dst, x.N by z.N, row-major.
//
// Squared distances are |x|^2 + |z|^2 - 2 x'z with the products by GEMM. For
// pairs too close for this form to be accurate, differences are used. O(x.N z.N
// C), and scratch memory for a chunk of rows.
func Gram(b Backend, dst []float32, k Kernel, x, z Rows) {
	checkPoints(x, z)
	if len(dst) != x.N*z.N {
		panic(fmt.Sprintf("kernel: Gram: %d x %d values do not fit a slice of %d", x.N, z.N, len(dst)))
	}
	v := k.prepare(newEngine(b), z)
	for from, step := 0, chunk(z.N); from < x.N; from += step {
		to := min(from+step, x.N)
		v.value(dst[from*z.N:to*z.N], x.part(from, to))
	}
}

// ParamGradient returns the derivative of sum_ij grad_ij k(x_i, z_j) with
// respect to each parameter, in the order of Params. O(x.N z.N C).
func ParamGradient(b Backend, k Kernel, grad []float32, x, z Rows) []float64 {
	checkPoints(x, z)
	if len(grad) != x.N*z.N {
		panic(fmt.Sprintf("kernel: ParamGradient: grad has %d values, want %d x %d", len(grad), x.N, z.N))
	}
	v := k.prepare(newEngine(b), z)
	out := make([]float64, len(k.Params()))
	for from, step := 0, chunk(z.N); from < x.N; from += step {
		to := min(from+step, x.N)
		v.addGradient(out, grad[from*z.N:to*z.N], x.part(from, to))
	}
	return out
}

func checkPoints(x, z Rows) {
	x.check("rows")
	z.check("rows")
	if x.C != z.C {
		panic(fmt.Sprintf("kernel: the rows have %d and %d columns, want the same number", x.C, z.C))
	}
}

// evaluator computes a kernel between chunks of rows and fixed points z.
type evaluator interface {
	// value writes k(x, z) to dst.
	value(dst []float32, x Rows)
	// addGradient adds the derivative of sum g k(x, z) with respect to each
	// parameter to grad.
	addGradient(grad []float64, g []float32, x Rows)
}

func (constant) prepare(*engine, Rows) evaluator { return ones{} }

type ones struct{}

func (ones) value(dst []float32, _ Rows) {
	for i := range dst {
		dst[i] = 1
	}
}
func (ones) addGradient([]float64, []float32, Rows) {}

// baseEvaluator holds the coordinates of z, divided by the length-scales.
type baseEvaluator struct {
	*engine
	k       *base
	inverse []float64
	n       int // number of points z
	z       []float32
	zNorm   []float32

	x, xNorm []float32 // of the current chunk
	s        []float32 // squared distances of a chunk, for addGradient
}

func (k *base) prepare(e *engine, z Rows) evaluator {
	k.mustBeBound()
	v := &baseEvaluator{engine: e, k: k, inverse: k.inverse(), n: z.N}
	v.z, v.zNorm = v.embedRows(nil, nil, z)
	return v
}

// embedRows writes the coordinates of rows and their squared norms.
func (v *baseEvaluator) embedRows(dst, norm []float32, r Rows) ([]float32, []float32) {
	w := len(v.inverse)
	dst, norm = resize(dst, r.N*w), resize(norm, r.N)
	v.forEach(r.N, func(i int) {
		row := dst[i*w : (i+1)*w]
		embed(v.k, row, r.X[i*r.C:(i+1)*r.C], v.inverse)
		sum := float32(0)
		for _, c := range row {
			sum += c * c
		}
		norm[i] = sum
	})
	return dst, norm
}

// narrowWidth is the largest width for which differences cost no more than the
// form with products.
const narrowWidth = 6

// cancellation is the share of |x|^2 + |z|^2 below which a squared distance has
// lost too many digits in the form with products.
const cancellation = 1e-2

// distances writes squared scaled distances between a chunk and z.
func (v *baseEvaluator) distances(dst []float32, x Rows) {
	w, n := len(v.inverse), v.n
	v.x, v.xNorm = v.embedRows(v.x, v.xNorm, x)
	if w > narrowWidth && x.N > 0 && n > 0 {
		v.Gemm(false, true, x.N, n, w, -2, v.x, w, v.z, w, 0, dst, n)
	}
	v.forEach(x.N, func(i int) {
		row, at := dst[i*n:(i+1)*n], v.x[i*w:(i+1)*w]
		if w <= narrowWidth {
			for j := range row {
				row[j] = squaredDistance(at, v.z[j*w:(j+1)*w])
			}
			return
		}
		xn := v.xNorm[i]
		for j, zn := range v.zNorm {
			s := row[j] + (xn + zn)
			if s < cancellation*(xn+zn) {
				s = squaredDistance(at, v.z[j*w:(j+1)*w])
			}
			row[j] = s
		}
	})
}

func squaredDistance(x, z []float32) float32 {
	s := float32(0)
	z = z[:len(x)]
	for e, u := range x {
		d := u - z[e]
		s += d * d
	}
	return s
}

func (v *baseEvaluator) value(dst []float32, x Rows) {
	v.distances(dst, x)
	f, n := v.k.form, v.n
	c1, c2 := float32(f.c1), float32(f.c2)
	v.forEachScratch(x.N, n, func(i int, e []float32) {
		row := dst[i*n : (i+1)*n]
		v.decay(f, e, row)
		if c1 == 0 {
			copy(row, e)
			return
		}
		root := float32(math.Sqrt(float64(f.order)))
		for j, s := range row {
			a := root * sqrt(s)
			row[j] = (1 + c1*a + c2*a*a) * e[j]
		}
	})
}

// decay writes exp(-a).
func (v *baseEvaluator) decay(f *form, e, s []float32) {
	if f.order == 0 {
		for j, d := range s {
			e[j] = -.5 * d
		}
	} else {
		root := -float32(math.Sqrt(float64(f.order)))
		for j, d := range s {
			e[j] = root * sqrt(d)
		}
	}
	v.exp(e, e)
}

// addGradient uses that with H = g dk/ds the derivative with respect to log l_c
// is
//
//	-2 sum_ij H_ij (x_ic - z_jc)^2,   x and z divided by l,
//
// whose mixed term is one GEMM if there is one length-scale per column.
func (v *baseEvaluator) addGradient(grad []float64, g []float32, x Rows) {
	n := v.n
	v.s = resize(v.s, x.N*n)
	v.distances(v.s, x)
	f := v.k.form
	h0, h1, hinv := float32(f.h0), float32(f.h1), float32(f.hinv)
	root := float32(math.Sqrt(float64(f.order)))
	sums := make([]float64, x.N) // of H per row, times s if there is a single length-scale
	v.forEachScratch(x.N, n, func(i int, e []float32) {
		row := v.s[i*n : (i+1)*n]
		v.decay(f, e, row)
		total := 0.0
		for j, s := range row {
			a := root * sqrt(s)
			h := h0 + h1*a
			if hinv > 0 {
				// The derivative at distance 0, where the kernel has a kink, is
				// 0 for every length-scale.
				if s < 1e-12 {
					row[j] = 0
					continue
				}
				h += hinv / a
			}
			h *= -g[i*n+j] * e[j]
			if v.k.ard {
				row[j] = h
				total += float64(h)
			} else {
				total += float64(h * s)
			}
		}
		sums[i] = total
	})
	if !v.k.ard {
		for _, total := range sums {
			grad[0] -= 2 * total
		}
		return
	}
	v.addLengthGradients(grad, v.s, sums, x.N)
}

func (v *baseEvaluator) addLengthGradients(grad []float64, h []float32, rowSum []float64, rows int) {
	w, n := len(v.inverse), v.n
	if rows == 0 || n == 0 {
		return
	}
	mixed := make([]float32, rows*w)
	v.Gemm(false, false, rows, w, n, 1, h, n, v.z, w, 0, mixed, w)
	columnSum := make([]float64, n)
	for i := range rows {
		for j, value := range h[i*n : (i+1)*n] {
			columnSum[j] += float64(value)
		}
	}
	for e := range w {
		total := 0.0
		for i := range rows {
			u := float64(v.x[i*w+e])
			total += u * (rowSum[i]*u - 2*float64(mixed[i*w+e]))
		}
		for j, c := range columnSum {
			u := float64(v.z[j*w+e])
			total += c * u * u
		}
		grad[v.k.parameter(e)] -= 2 * total
	}
}

// sumEvaluator adds weighted parts.
type sumEvaluator struct {
	*engine
	weight  []float64
	parts   []evaluator
	params  []int // number of parameters of each part
	n       int
	scratch []float32
}

func (k *sum) prepare(e *engine, z Rows) evaluator {
	v := &sumEvaluator{engine: e, n: z.N}
	for t, part := range k.parts {
		v.weight = append(v.weight, math.Exp(k.logWeight[t]))
		v.parts = append(v.parts, part.prepare(e, z))
		v.params = append(v.params, len(part.Params()))
	}
	return v
}

func (v *sumEvaluator) value(dst []float32, x Rows) {
	v.scratch = resize(v.scratch, len(dst))
	for t, part := range v.parts {
		part.value(v.scratch, x)
		w := float32(v.weight[t])
		v.forEach(x.N, func(i int) {
			to, from := dst[i*v.n:(i+1)*v.n], v.scratch[i*v.n:(i+1)*v.n]
			for j, value := range from {
				if t == 0 {
					to[j] = w * value
				} else {
					to[j] += w * value
				}
			}
		})
	}
}

func (v *sumEvaluator) addGradient(grad []float64, g []float32, x Rows) {
	v.scratch = resize(v.scratch, len(g))
	own, rest := grad[:len(v.parts)], grad[len(v.parts):]
	for t, part := range v.parts {
		part.value(v.scratch, x)
		own[t] += v.weight[t] * v.dot(g, v.scratch, x.N)
		w := float32(v.weight[t])
		for i, value := range g {
			v.scratch[i] = w * value
		}
		part.addGradient(rest[:v.params[t]], v.scratch, x)
		rest = rest[v.params[t]:]
	}
}

// productEvaluator multiplies parts.
type productEvaluator struct {
	*engine
	parts  []evaluator
	params []int
	n      int
	values [][]float32
	others []float32
}

func (k *product) prepare(e *engine, z Rows) evaluator {
	v := &productEvaluator{engine: e, n: z.N, values: make([][]float32, len(k.parts))}
	for _, part := range k.parts {
		v.parts = append(v.parts, part.prepare(e, z))
		v.params = append(v.params, len(part.Params()))
	}
	return v
}

func (v *productEvaluator) value(dst []float32, x Rows) {
	v.parts[0].value(dst, x)
	v.others = resize(v.others, len(dst))
	for _, part := range v.parts[1:] {
		part.value(v.others, x)
		for i, value := range v.others {
			dst[i] *= value
		}
	}
}

func (v *productEvaluator) addGradient(grad []float64, g []float32, x Rows) {
	for f, part := range v.parts {
		v.values[f] = resize(v.values[f], len(g))
		part.value(v.values[f], x)
	}
	v.others = resize(v.others, len(g))
	for f, part := range v.parts {
		copy(v.others, g)
		for other, values := range v.values {
			if other == f {
				continue
			}
			for i, value := range values {
				v.others[i] *= value
			}
		}
		part.addGradient(grad[:v.params[f]], v.others, x)
		grad = grad[v.params[f]:]
	}
}
