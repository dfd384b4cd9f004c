package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/tt"
)

// hold gives noise and prior variances and keeps them.
func (a *cavi) hold(noise, prior float64) {
	a.given = true
	a.d.noise[0] = float32(noise)
	for i := range a.block {
		_, _, b := a.at(i)
		b.Spread.PriorVar[0] = float32(prior)
	}
}

func (a *cavi) sweeps(n int) {
	for range n {
		for i := range a.block {
			a.update(i)
		}
	}
	a.evaluateAll()
}

// tally sums the observations of a matrix by cell.
func tally(p *Problem, c *tt.Train) (count, sum [][]float64) {
	index := c.Lookup(p.Train.Codes)
	rows, columns := c.Cores[0].Slices.N-1, c.Cores[1].Slices.N-1
	for range rows {
		count, sum = append(count, make([]float64, columns)), append(sum, make([]float64, columns))
	}
	for n, y := range p.Train.Y {
		i, j := index[0][n], index[1][n]
		count[i][j]++
		sum[i][j] += float64(y)
	}
	return count, sum
}

// The mean of f is that of a long Gibbs run, within a tenth of its standard
// deviation, for a matrix of rank 2 with known noise and priors.
func TestMeanAgainstGibbs(t *testing.T) {
	const noise, prior, rank, burn, draws = 0.25, 1.0, 2, 500, 20000
	w := world{sizes: []int{6, 5}, grouping: [][][]int{{{0}, {1}}}, ranks: []int{rank}, cells: 1600, noise: math.Sqrt(noise)}
	p := w.problem(t, 4, false)
	train := p.Field.Terms[0]
	count, sum := tally(p, train)
	rng := rand.New(rand.NewPCG(1, 1))
	left, right := make([][rank]float64, len(count)), make([][rank]float64, len(count[0]))
	for i := range left {
		left[i] = [rank]float64{rng.NormFloat64(), rng.NormFloat64()}
	}
	mean, square := make([][]float64, len(left)), make([][]float64, len(left))
	for i := range left {
		mean[i], square[i] = make([]float64, len(right)), make([]float64, len(right))
	}
	for sweep := range burn + draws {
		for j := range right {
			right[j] = drawRow(rng, left, func(i int) (float64, float64) { return count[i][j], sum[i][j] }, noise, prior)
		}
		for i := range left {
			left[i] = drawRow(rng, right, func(j int) (float64, float64) { return count[i][j], sum[i][j] }, noise, prior)
			for j := range right {
				if sweep >= burn {
					f := left[i][0]*right[j][0] + left[i][1]*right[j][1]
					mean[i][j] += f / draws
					square[i][j] += f * f / draws
				}
			}
		}
	}
	for _, family := range []tt.Family{tt.MeanField, tt.Rows} {
		a := ascent(t, p, family, 10)
		a.hold(noise, prior)
		a.sweeps(200)
		index := train.Lookup(p.Train.Codes)
		for n, f := range a.terms[0].mean {
			i, j := index[0][n], index[1][n]
			sd := math.Sqrt(square[i][j] - mean[i][j]*mean[i][j])
			if d := (float64(f) - mean[i][j]) / sd; math.Abs(d) > 0.1 {
				t.Fatalf("%s: E f of cell %d, %d is %.5f; a Gibbs run has %.5f, %.2f standard deviations away", family, i, j, f, mean[i][j], d)
			}
			if r := math.Sqrt(float64(a.terms[0].variance[n])) / sd; r < 0.5 || r > 1.5 {
				t.Fatalf("%s: the standard deviation of f at cell %d, %d is %.2f of the Gibbs run's", family, i, j, r)
			}
		}
	}
}

// drawRow draws the two weights of an entity given those of the other core.
func drawRow(rng *rand.Rand, other [][2]float64, at func(i int) (count, sum float64), noise, prior float64) (x [2]float64) {
	a, b, c := 1/prior, 0.0, 1/prior
	var g [2]float64
	for i, u := range other {
		n, s := at(i)
		a, b, c = a+n*u[0]*u[0]/noise, b+n*u[0]*u[1]/noise, c+n*u[1]*u[1]/noise
		g[0], g[1] = g[0]+s*u[0]/noise, g[1]+s*u[1]/noise
	}
	// Precision L L', x = L'^-1 (L^-1 g + z).
	l0 := math.Sqrt(a)
	l1 := b / l0
	l2 := math.Sqrt(c - l1*l1)
	z0 := g[0]/l0 + rng.NormFloat64()
	z1 := (g[1]-l1*g[0]/l0)/l2 + rng.NormFloat64()
	x[1] = z1 / l2
	x[0] = (z0 - l1*x[1]) / l0
	return x
}

// Where the posterior of every weight is independent, the bound is the evidence.
func TestBoundIsTheEvidenceOfEffects(t *testing.T) {
	w := world{sizes: []int{5}, grouping: [][][]int{{{0}}}, ranks: []int{1}, cells: 60, noise: 1}
	p := w.problem(t, 3, false)
	a := ascent(t, p, tt.MeanField, 5)
	a.sweeps(30)
	_, _, b := a.at(0)
	index := p.Field.Terms[0].Lookup(p.Train.Codes)[0]
	want := 0.0
	for e := range p.Field.Terms[0].Cores[0].Slices.N - 1 {
		var own []float64
		for n, y := range p.Train.Y {
			if int(index[n]) == e {
				own = append(own, float64(y))
			}
		}
		want += logEvidence(own, float64(a.d.noise[0]), float64(b.Spread.PriorVar[0]))
	}
	if got := a.elbo(); math.Abs(got-want) > 1e-4 {
		t.Errorf("bound %.6f, log evidence %.6f", got, want)
	}
}

// logEvidence returns log N(y; 0, noise I + between 11').
func logEvidence(y []float64, noise, between float64) float64 {
	n, sum, square := float64(len(y)), 0.0, 0.0
	for _, v := range y {
		sum += v
		square += v * v
	}
	whole := noise + n*between
	return -(n*math.Log(2*math.Pi) + (n-1)*math.Log(noise) + math.Log(whole) + (square-sum*sum*between/whole)/noise) / 2
}

// The bound of a product of two numbers lies below the evidence, and not far.
func TestBoundIsBelowTheEvidence(t *testing.T) {
	w := world{sizes: []int{1, 3}, grouping: [][][]int{{{0}, {1}}}, ranks: []int{1}, cells: 40, noise: 0.5}
	for seed := range uint64(3) {
		p := w.problem(t, 10+seed, false)
		train := p.Field.Terms[0]
		index := train.Lookup(p.Train.Codes)
		a := ascent(t, p, tt.MeanField, 5)
		for _, sweeps := range []int{1, 50} {
			a.sweeps(sweeps)
			noise := float64(a.d.noise[0])
			_, _, left := a.at(0)
			_, _, right := a.at(1)
			first, second := float64(left.Spread.PriorVar[0]), float64(right.Spread.PriorVar[0])
			own := make([][]float64, 3)
			for n, y := range p.Train.Y {
				own[index[1][n]] = append(own[index[1][n]], float64(y))
			}
			// Given the first number the others are normal; it is integrated.
			evidence := logIntegral(func(x float64) float64 {
				x *= math.Sqrt(first)
				sum := -x*x/(2*first) - math.Log(2*math.Pi)/2
				for _, y := range own {
					sum += logEvidence(y, noise, x*x*second)
				}
				return sum
			})
			gap := evidence - a.elbo()
			if !(gap > 0) || sweeps > 1 && gap > 3 {
				t.Errorf("seed %d, %d sweeps: log evidence %.4f is %.4f above the bound", seed, sweeps, evidence, gap)
			}
		}
	}
}

// logIntegral returns the logarithm of the integral of exp(f) over [-12, 12].
func logIntegral(f func(x float64) float64) float64 {
	const points, width = 40001, 24.0
	value, top := make([]float64, points), math.Inf(-1)
	for i := range value {
		value[i] = f(width * (float64(i)/(points-1) - 0.5))
		top = max(top, value[i])
	}
	sum := 0.0
	for _, v := range value {
		sum += math.Exp(v-top) * width / (points - 1)
	}
	return top + math.Log(sum)
}

// With noise and priors scaled down together the variances vanish, and the means
// are the penalised least squares of als.
func TestVanishingVariancesGiveLeastSquares(t *testing.T) {
	const lambda, tiny = 2.0, 1e-9
	for name, w := range map[string]world{
		"matrix": {sizes: []int{15, 12}, grouping: [][][]int{{{0}, {1}}}, ranks: []int{2}, cells: 1200, noise: 0.3},
		"three":  {sizes: []int{10, 9, 5}, grouping: [][][]int{{{0}, {1}, {2}}}, ranks: []int{2}, cells: 1600, noise: 0.3},
	} {
		p := w.problem(t, 5, false)
		a := ascent(t, p, tt.MeanField, 40)
		a.hold(tiny, tiny/lambda)
		a.sweeps(400)
		again := *p
		again.Field = w.field(t, p.Train.Codes)
		d, err := newData(&again)
		if err != nil {
			t.Fatal(err)
		}
		s := &session{d: d, opt: defaults(), state: &State{}}
		if err := s.fresh(); err != nil {
			t.Fatal(err)
		}
		b := newALS(d, p.Train, 40)
		b.begin(&s.state.Run, Ridge{Uniform, lambda})
		for range 400 {
			for i := range b.blocks() {
				b.update(i)
			}
		}
		b.evaluateAll()
		far := 0.0
		for n, f := range b.terms[0].mean {
			far += math.Pow(float64(f)-float64(a.terms[0].mean[n]), 2) / float64(len(a.d.y))
		}
		if far = math.Sqrt(far); far > 1e-6 {
			t.Errorf("%s: values %.2g away from those of als, root mean square", name, far)
		}
	}
}
