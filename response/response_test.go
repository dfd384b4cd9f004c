package response

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/backend/ref"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// newField returns a field over three modes whose weights have posteriors, and cells of it.
func newField(t *testing.T, seed uint64, cores [][]int, ranks []int, family tt.Family) (*tt.Field, [][]int32) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	sizes := []int{6, 5, 4}
	codes := make([][]int32, len(sizes))
	for m, n := range sizes {
		for range 80 {
			codes[m] = append(codes[m], int32(rng.IntN(n)))
		}
	}
	var index []*entity.Index
	var names [][]string
	for _, core := range cores {
		x, err := entity.NewIndex(core, sizes, codes)
		if err != nil {
			t.Fatal(err)
		}
		names, index = append(names, []string{string(rune('a' + core[0]))}), append(index, x)
	}
	f := &tt.Field{Terms: []*tt.Train{tt.NewTrain(names, index, ranks)}, Offset: tt.Offset{Var: .01}}
	if err := f.SetFamily(family); err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Terms[0].Cores {
		for i := range c.Free {
			c.Free[i] = float32(rng.NormFloat64())
			c.FreePosterior.Var[i] = float32(.01 + .05*rng.Float64())
		}
		c.FreePosterior.PriorVar[0] = 1.5
	}
	return f, codes
}

// dense returns the Jacobian of the field at cells by differences, the offset last.
func dense(f *tt.Field, codes [][]int32) [][]float64 {
	b, n := ref.Backend{}, len(codes[0])
	rows := make([][]float64, n)
	up, down := make([]float32, n), make([]float32, n)
	for _, t := range f.Terms {
		for _, c := range t.Cores {
			for i := range c.Free[:len(c.Free)-c.Slices.Slice()] {
				old := c.Free[i]
				c.Free[i] = old + 1
				f.Evaluate(b, up, codes)
				c.Free[i] = old - 1
				f.Evaluate(b, down, codes)
				c.Free[i] = old
				for k := range rows {
					rows[k] = append(rows[k], float64(up[k]-down[k])/2)
				}
			}
		}
	}
	for k := range rows {
		rows[k] = append(rows[k], 1)
	}
	return rows
}

// The steps of conjugate gradients agree with a dense solution.
func TestSolveAgreesWithDense(t *testing.T) {
	t.Parallel()
	f, codes := newField(t, 1, [][]int{{0}, {1}, {2}}, []int{2, 2}, tt.MeanField)
	train := Observations{Codes: codes, Noise: .4}
	for i := range codes[0] {
		train.W = append(train.W, []float32{.5, 1, 1.5}[i%3])
	}
	rows := dense(f, codes)
	p := len(rows[0])
	matrix := make([][]float64, p)
	for i := range matrix {
		matrix[i] = make([]float64, p+1)
		for k, row := range rows {
			for j := range row {
				matrix[i][j] += float64(train.W[k]) * row[i] * row[j] / train.Noise
			}
		}
		if i < p-1 {
			matrix[i][i] += 1 / 1.5
		}
	}
	at := 0
	for _, c := range f.Terms[0].Cores { // the optimum of mean-field
		for i := range c.Free[:len(c.Free)-c.Slices.Slice()] {
			matrix[at][at] *= 1.1 // D
			c.FreePosterior.Var[i] = float32(1 / matrix[at][at])
			at++
		}
	}
	signs := make([]float32, len(codes[0]))
	b := make([]float64, p)
	for k := range signs {
		signs[k] = float32(1 - 2*(k*k%3%2))
		for j, v := range rows[k] {
			b[j] += v * float64(signs[k])
		}
	}
	for i := range matrix {
		matrix[i][p] = b[i]
	}
	want := 0.0
	for i, x := range eliminate(matrix) {
		want += b[i] * x
	}
	s := newSystem(ref.Backend{}, f, train)
	v := s.newVector()
	v.offset = s.adjoint(v, s.chunk, s.own, signs)
	if got := s.solve(v); math.Abs(got/want-1) > .02 || got > want*1.001 {
		t.Errorf("got b'P^-1 b = %.4f, want at most 2 %% less than %.4f", got, want)
	}
}

// eliminate solves a linear system whose last column is its right-hand side.
func eliminate(a [][]float64) []float64 {
	n := len(a)
	for i := range n {
		for k := i + 1; k < n; k++ {
			by := a[k][i] / a[i][i]
			for j := i; j <= n; j++ {
				a[k][j] -= by * a[i][j]
			}
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = a[i][n]
		for j := i + 1; j < n; j++ {
			x[i] -= a[i][j] * x[j]
		}
		x[i] /= a[i][i]
	}
	return x
}

// The exact posterior of one effect without an offset needs no factor.
func TestExactPosteriorKeepsItsVariances(t *testing.T) {
	t.Parallel()
	f, codes := newField(t, 2, [][]int{{0}}, nil, tt.MeanField)
	f.Offset.Var = 0
	const noise = .3
	c := f.Terms[0].Cores[0]
	n := make([]float64, c.Slices.N)
	for _, e := range f.Terms[0].Lookup(codes)[0] {
		n[e]++
	}
	for e := range n {
		c.FreePosterior.Var[e] = float32(1 / (1/1.5 + n[e]/noise))
	}
	if got := Factor(ref.Backend{}, f, Observations{Codes: codes, Noise: noise}, codes, 1); got > 1.001 {
		t.Errorf("got factor %.4f, want 1", got)
	}
}

// For two crossed effects, the factor is the mean ratio of the exact variance of totals by
// mode to that of independent weights.
func TestFactorOfCrossedEffects(t *testing.T) {
	t.Parallel()
	const noise, prior = .3, 2.0
	f, codes := newField(t, 3, [][]int{{0}}, nil, tt.MeanField)
	second, _ := newField(t, 3, [][]int{{1}}, nil, tt.MeanField)
	f.Terms, f.Offset.Var = append(f.Terms, second.Terms...), 0
	few := make([][]int32, len(codes))
	for m := range codes {
		few[m] = codes[m][:13]
	}
	var cells [3][]int32
	for i := range int32(6) {
		for j := range int32(5) {
			cells[0], cells[1], cells[2] = append(cells[0], i), append(cells[1], j), append(cells[2], 0)
		}
	}
	train, all := dense(f, few), dense(f, cells[:])
	p := len(train[0]) - 1 // without the offset
	matrix := make([][]float64, p)
	for i := range matrix {
		matrix[i] = make([]float64, p)
		matrix[i][i] = 1 / prior
		for _, row := range train {
			for j := range p {
				matrix[i][j] += row[i] * row[j] / noise
			}
		}
	}
	at := 0
	for _, t := range f.Terms {
		c := t.Cores[0]
		c.FreePosterior.PriorVar[0] = prior
		for i := range c.Free[:len(c.Free)-1] {
			c.FreePosterior.Var[i] = float32(1 / matrix[at][at])
			at++
		}
	}
	// surplus is the variance of totals by independent weights, widened by a factor, minus
	// the exact one, relative to the former without a factor.
	surplus := func(factor float64) (sum float64) {
		for mode := range cells {
			exact, independent, widened := 0.0, 0.0, 0.0
			for id := range int32(6) {
				total := make([]float64, p)
				for k, row := range all {
					if cells[mode][k] == id {
						for j := range p {
							total[j] += row[j]
						}
					}
				}
				system := make([][]float64, p)
				for i := range system {
					system[i] = append(append([]float64(nil), matrix[i]...), total[i])
					independent += total[i] * total[i] / matrix[i][i]
					widened += total[i] * total[i] * f.Terms[0].Cores[0].FreePosterior.Widened(1/matrix[i][i], factor)
				}
				for i, x := range eliminate(system) {
					exact += total[i] * x
				}
			}
			sum += (widened - exact) / independent
		}
		return sum
	}
	want := 1.0
	for surplus(want) < 0 {
		want += .001
	}
	if want < 1.1 || want > 5 {
		t.Fatalf("the factor should be %.3f, which tests nothing", want)
	}
	if got := Factor(ref.Backend{}, f, Observations{Codes: few, Noise: noise}, cells[:], 1); math.Abs(got/want-1) > .15 {
		t.Errorf("got factor %.3f, want %.3f", got, want)
	}
}

// Covariances per entity count in the variance of a total, and are widened with it.
func TestVarianceWithCovariances(t *testing.T) {
	t.Parallel()
	p := &tt.Posterior{Var: []float32{1, 4}, Cov: []float32{1, 1, 1, 4}, PriorVar: [1]float32{1e9}}
	for factor, want := range map[float64]float64{1: 1*1 + 2*1*3*1 + 3*3*4, 2: 2 * (1*1 + 2*1*3*1 + 3*3*4)} {
		if got := covariances(2, p, []float32{1, 3}, factor); math.Abs(got/want-1) > 1e-6 {
			t.Errorf("factor %g: got %g, want %g", factor, got, want)
		}
	}
	p.PriorVar[0] = 4 // the second weight has its prior variance
	if got, want := p.Widened(4, 3), 4.0; got != want {
		t.Errorf("got variance %g of a weight without data, want %g", got, want)
	}
	if got, want := p.Widened(2, 2), 1/(1/4.0+(1/2.0-1/4.0)/2); math.Abs(got-want) > 1e-12 {
		t.Errorf("got variance %g, want %g", got, want)
	}
}

// A field without a posterior, or without cells to look at, has none.
func TestNoFactor(t *testing.T) {
	t.Parallel()
	f, codes := newField(t, 4, [][]int{{0}, {1}}, []int{2}, tt.MeanField)
	o := Observations{Codes: codes, Noise: 1}
	if got := Factor(ref.Backend{}, f, o, [][]int32{{}, {}, {}}, 1); got != 1 {
		t.Errorf("without cells: got %g, want 1", got)
	}
	f.Terms[0].Cores[0].FreePosterior = nil
	if got := Factor(ref.Backend{}, f, o, codes, 1); got != 1 {
		t.Errorf("without a posterior: got %g, want 1", got)
	}
}

// Several ranks, which divide the weights of a plan with parts, give the bits of one process.
func TestSolveOverRanks(t *testing.T) {
	t.Parallel()
	const n = 200_000
	rng := rand.New(rand.NewPCG(5, 6))
	sizes := []int{20_000, 2, 3}
	codes := make([][]int32, len(sizes))
	for m, size := range sizes {
		codes[m] = make([]int32, n)
		for i := range codes[m] {
			codes[m][i] = int32(rng.IntN(size))
		}
	}
	var index []*entity.Index
	var names [][]string
	for m, name := range []string{"article", "store", "time"} {
		x, err := entity.NewIndex([]int{m}, sizes, codes)
		if err != nil {
			t.Fatal(err)
		}
		names, index = append(names, []string{name}), append(index, x)
	}
	f := &tt.Field{Terms: []*tt.Train{tt.NewTrain(names, index, []int{4, 4}), tt.NewTrain(names[:1], index[:1], nil)}, Offset: tt.Offset{Var: .01}}
	if err := f.SetFamily(tt.MeanField); err != nil {
		t.Fatal(err)
	}
	for _, train := range f.Terms {
		for _, c := range train.Cores {
			for i := range c.Free {
				c.Free[i], c.FreePosterior.Var[i] = float32(rng.NormFloat64()), float32(.01+.01*rng.Float64())
			}
			c.FreePosterior.PriorVar[0] = 1.5
		}
	}
	adjoint := make([]float32, n)
	for i := range adjoint {
		adjoint[i] = float32(1 - 2*(codes[0][i]%2))
	}
	compute := func(b backend.Backend) ([3]float64, *system) {
		s := newSystem(b, f, Observations{Codes: codes, Noise: .4})
		v := s.newVector()
		v.offset = s.adjoint(v, s.chunk, s.own, adjoint)
		return [...]float64{s.solve(v), s.variance(v, 1), s.variance(v, 2)}, s
	}
	want, _ := compute(cpu.New(cpu.Paths()[0], 2))
	for _, size := range []int{2, 5} {
		backendtest.OnRanks(size, func(r backend.Ranks) {
			got, s := compute(cpu.New(cpu.Paths()[0], 1).OnRanks(r))
			if got != want {
				t.Errorf("rank %d of %d: got %v, want %v", r.Rank(), size, got, want)
			}
			if s.runs[0].ranks == nil || s.runs[0].to-s.runs[0].from == len(f.Terms[0].Cores[0].Free) {
				t.Errorf("rank %d of %d has all weights", r.Rank(), size)
			}
		})
	}
}
