package solver

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/tt"
)

// fixHyperparameters sets the noise and all prior variances and stops learning them.
func (a *cavi) fixHyperparameters(noise, prior float64) {
	a.fixed = true
	a.d.noise[0] = float32(noise)
	for i := range a.ids {
		_, _, b := a.at(i)
		b.Posterior.PriorVar[0] = float32(prior)
	}
}

func (a *cavi) runSweeps(n int) {
	for range n {
		for i := range a.ids {
			a.update(i)
		}
	}
	a.evaluateAll()
}

// sumByCell sums the observations of a matrix per cell.
func sumByCell(p *Problem, c *tt.Train) (count, sum [][]float64) {
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

// The posterior mean of f agrees with a long Gibbs run within a tenth of a standard
// deviation, for a matrix of rank 2 with known noise and priors.
func TestMeanAgainstGibbs(t *testing.T) {
	t.Parallel()
	const noise, prior, rank, burn, draws = 0.25, 1.0, 2, 500, 20000
	w := synthetic{sizes: []int{6, 5}, grouping: [][][]int{{{0}, {1}}}, ranks: []int{rank}, cells: 1600, noise: math.Sqrt(noise)}
	p := w.problem(t, 4, false)
	train := p.Field.Terms[0]
	count, sum := sumByCell(p, train)
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
	for _, family := range []tt.Family{tt.MeanField, tt.EntityCovariance} {
		a := newTestCAVI(t, p, family, 10)
		a.fixHyperparameters(noise, prior)
		a.runSweeps(200)
		a.terms[0].Variance = make([]float32, len(a.d.y)) // kept, but for this test only
		a.evaluate(0)
		index := train.Lookup(p.Train.Codes)
		for n, f := range a.terms[0].Mean {
			i, j := index[0][n], index[1][n]
			sd := math.Sqrt(square[i][j] - mean[i][j]*mean[i][j])
			if d := (float64(f) - mean[i][j]) / sd; math.Abs(d) > 0.1 {
				t.Fatalf("%s: mean at cell %d, %d: got %.5f, want %.5f from Gibbs sampling; the difference is %.2f standard deviations", family, i, j, f, mean[i][j], d)
			}
			if r := math.Sqrt(float64(a.terms[0].Variance[n])) / sd; r < 0.5 || r > 1.5 {
				t.Fatalf("%s: standard deviation at cell %d, %d: got %.2f times that of Gibbs sampling, want 0.5 to 1.5", family, i, j, r)
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

// If the posterior factorizes over the weights, the bound equals the log evidence.
func TestBoundEqualsEvidence(t *testing.T) {
	t.Parallel()
	w := synthetic{sizes: []int{5}, grouping: [][][]int{{{0}}}, ranks: []int{1}, cells: 60, noise: 1}
	p := w.problem(t, 3, false)
	a := newTestCAVI(t, p, tt.MeanField, 5)
	a.runSweeps(30)
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
		want += logEvidence(own, float64(a.d.noise[0]), float64(b.Posterior.PriorVar[0]))
	}
	if got := a.elbo(); math.Abs(got-want) > 1e-4 {
		t.Errorf("got bound %.6f, want the log evidence %.6f", got, want)
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

// The bound of a product of two scalars lies slightly below the log evidence.
func TestBoundIsBelowEvidence(t *testing.T) {
	t.Parallel()
	w := synthetic{sizes: []int{1, 3}, grouping: [][][]int{{{0}, {1}}}, ranks: []int{1}, cells: 40, noise: 0.5}
	for seed := range uint64(3) {
		p := w.problem(t, 10+seed, false)
		train := p.Field.Terms[0]
		index := train.Lookup(p.Train.Codes)
		a := newTestCAVI(t, p, tt.MeanField, 5)
		for _, sweeps := range []int{1, 50} {
			a.runSweeps(sweeps)
			noise := float64(a.d.noise[0])
			_, _, left := a.at(0)
			_, _, right := a.at(1)
			first, second := float64(left.Posterior.PriorVar[0]), float64(right.Posterior.PriorVar[0])
			own := make([][]float64, 3)
			for n, y := range p.Train.Y {
				own[index[1][n]] = append(own[index[1][n]], float64(y))
			}
			// Given the first scalar the others are normal. The first is integrated out.
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
				t.Errorf("seed %d, %d sweeps: log evidence %.4f minus bound is %.4f, want a small positive number", seed, sweeps, evidence, gap)
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

// If noise and prior variances are scaled towards zero together, the variances vanish
// and the means are the penalized least squares solution of als.
func TestVanishingVariancesGiveLeastSquares(t *testing.T) {
	t.Parallel()
	const lambda, tiny = 2.0, 1e-9
	for name, w := range map[string]synthetic{
		"matrix": {sizes: []int{15, 12}, grouping: [][][]int{{{0}, {1}}}, ranks: []int{2}, cells: 1200, noise: 0.3},
		"three":  {sizes: []int{10, 9, 5}, grouping: [][][]int{{{0}, {1}, {2}}}, ranks: []int{2}, cells: 1600, noise: 0.3},
	} {
		p := w.problem(t, 5, false)
		a := newTestCAVI(t, p, tt.MeanField, 40)
		a.fixHyperparameters(tiny, tiny/lambda)
		a.runSweeps(400)
		again := *p
		again.Field = w.field(t, p.Train.Codes)
		d := newTestData(t, &again)
		run := drawStart(t, d, defaults())
		b := newALS(d, p.Train, 40)
		b.begin(run, Ridge{Kind: Uniform, Lambda: lambda})
		for range 400 {
			for i := range b.blocks() {
				b.update(i)
			}
		}
		b.evaluateAll()
		difference := 0.0
		for n, f := range b.terms[0].Mean {
			difference += math.Pow(float64(f)-float64(a.terms[0].Mean[n]), 2) / float64(len(a.d.y))
		}
		if difference = math.Sqrt(difference); difference > 1e-6 {
			t.Errorf("%s: root mean square difference to als is %.2g, want at most 1e-6", name, difference)
		}
	}
}
