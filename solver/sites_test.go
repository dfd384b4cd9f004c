package solver

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/tt"
)

// countProblem replaces targets by counts with log rate f. It returns the problem and
// f at the training and validation cells.
func (w synthetic) countProblem(t testing.TB, seed uint64, weighted bool, offset float64, draw func(rng *rand.Rand, f float64) float64) (p *Problem, train, valid []float32) {
	w.noise = 0
	p = w.problem(t, seed, weighted)
	rng := rand.New(rand.NewPCG(seed, 13))
	for _, o := range []*Observations{&p.Train, &p.Valid} {
		f := append([]float32(nil), o.Y...)
		for i := range f {
			f[i] = f[i]/2 + float32(offset)
			o.Y[i] = float32(draw(rng, float64(f[i])))
		}
		train, valid = valid, f
	}
	return p, train, valid
}

// newTestCountCAVI returns a cavi solver for counts at the start of a run.
func newTestCountCAVI(t *testing.T, p *Problem, family tt.Family, l Likelihood) *cavi {
	t.Helper()
	if err := p.Field.SetFamily(family); err != nil {
		t.Fatal(err)
	}
	d := newTestData(t, p)
	d.startSites(l)
	run := drawStart(t, d, defaults())
	a := newCAVI(d, p.Train, 10)
	a.begin(run, Ridge{})
	return a
}

// No term, no update of the size and no balancing decreases the bound of negative
// binomial counts.
func TestCountBoundNeverDecreases(t *testing.T) {
	t.Parallel()
	nb := likelihood.NegativeBinomial{Size: 2}
	for name, w := range map[string]synthetic{"three": threeCores, "sum": sumOfTerms} {
		for _, family := range []tt.Family{tt.MeanField, tt.EntityCovariance} {
			w.cells = 1500
			p, _, _ := w.countProblem(t, 3, family == tt.EntityCovariance, 1, nb.Draw)
			a := newTestCountCAVI(t, p, family, Likelihood{likelihood.NegativeBinomial{Size: 1}, 1})
			before := math.Inf(-1)
			check := func(what string) {
				t.Helper()
				now := a.elbo()
				if !(now >= before-2e-6*math.Abs(before)) {
					t.Errorf("%s %s, %s: the bound decreased from %.6f to %.6f", name, family, what, before, now)
				}
				before = now
			}
			for sweep := range 8 {
				for i := range a.blocks() {
					a.update(i)
					if err := a.failure(); err != nil {
						t.Fatal(err)
					}
					if i+1 == a.blocks() || a.ids[i+1].term != a.ids[i].term { // sites are updated here
						check(fmt.Sprintf("sweep %d, %s", sweep, a.blockName(i)))
					}
				}
				a.endSweep(true)
				check(fmt.Sprintf("sweep %d, parameters %g", sweep, a.d.parameters))
			}
		}
	}
}

// The bound of counts lies below the log evidence, which is a sum of log integrals if
// each entity has one weight.
func TestCountBoundIsBelowEvidence(t *testing.T) {
	t.Parallel()
	w := synthetic{sizes: []int{4}, grouping: [][][]int{{{0}}}, ranks: []int{1}, cells: 40}
	for _, law := range []likelihood.Law{likelihood.Poisson{}, likelihood.NegativeBinomial{Size: 1}} {
		p, _, _ := w.countProblem(t, 4, false, 1, likelihood.NegativeBinomial{Size: 3}.Draw)
		a := newTestCountCAVI(t, p, tt.MeanField, Likelihood{law, 1})
		for range 60 {
			a.update(0)
			a.endSweep(true)
		}
		_, c, b := a.at(0)
		index := p.Field.Terms[0].Lookup(p.Train.Codes)[0]
		prior, want := float64(b.Posterior.PriorVar[0]), 0.0
		for e := range c.Slices.N - 1 {
			want += logIntegral(func(x float64) float64 {
				sum := -x*x/2 - math.Log(2*math.Pi)/2
				for n, y := range p.Train.Y {
					if int(index[n]) != e {
						continue
					}
					sum += a.d.law().LogProb(float64(y), 1+x*math.Sqrt(prior))
				}
				return sum
			})
		}
		if gap := want - a.elbo(); !(gap > 0 && gap < 1) {
			t.Errorf("%T: log evidence %.4f minus bound is %.4f, want 0 to 1", law, want, gap)
		}
	}
}

// Rates and size are recovered.
func TestCountsRecoverRates(t *testing.T) {
	t.Parallel()
	const offset = 1.5
	nb := likelihood.NegativeBinomial{Size: 4}
	for _, tc := range []struct {
		law         likelihood.Law
		draw        func(rng *rand.Rand, f float64) float64
		correlation float64
	}{
		{likelihood.Poisson{}, likelihood.Poisson{}.Draw, 0.97},
		{likelihood.NegativeBinomial{Size: 1}, nb.Draw, 0.94},
	} {
		for _, validated := range []bool{true, false} {
			w := threeCores
			w.cells = 8000
			p, _, truth := w.countProblem(t, 5, false, offset, tc.draw)
			codes := p.Valid.Codes
			if !validated {
				p.Valid = Observations{}
			}
			if err := p.Field.SetFamily(tt.MeanField); err != nil {
				t.Fatal(err)
			}
			opt := defaults()
			opt.Solver, opt.Sweeps, opt.Likelihood = "cavi", 40, &Likelihood{tc.law, offset}
			r := solve(t, p, opt)
			got := make([]float32, len(truth))
			p.Field.Evaluate(p.Backend, got, codes)
			var error, bias, xy, xx, yy float64
			for i, f := range got {
				x, y := float64(f), float64(truth[i])-offset
				error += math.Abs(x-y) / float64(len(got))
				bias += (x - y) / float64(len(got))
				xy, xx, yy = xy+x*y, xx+x*x, yy+y*y
			}
			what := fmt.Sprintf("%T, validation %v", tc.law, validated)
			if c := xy / math.Sqrt(xx*yy); !(c > tc.correlation) {
				t.Errorf("%s: got correlation %.3f of log rates, want more than %g", what, c, tc.correlation)
			}
			if error > 0.13 || math.Abs(bias) > 0.02 {
				t.Errorf("%s: log rates have mean absolute error %.3f and bias %.3f, want at most 0.13 and 0.02", what, error, bias)
			}
			if got, is := r.Law.(likelihood.NegativeBinomial); is && math.Abs(math.Log(got.Size/nb.Size)) > 0.15 {
				t.Errorf("%s: got size %.3f, want %g", what, got.Size, nb.Size)
			}
			if r.Stop != Converged {
				t.Errorf("%s: got stop %q after %d sweeps, want convergence", what, r.Stop, len(r.Points))
			}
		}
	}
}

// Sites are computed after every term of few, at most siteRefreshes times per sweep, and always after the last term.
func TestSitesAreRefreshedSomeTimesPerSweep(t *testing.T) {
	for n := 1; n <= 40; n++ {
		a := &cavi{residuals: residuals{d: &data{}, terms: make([]termValues, n)}}
		times := 0
		for k := range n {
			if a.refreshesAfter(k) {
				times++
			}
		}
		if times != min(n, siteRefreshes) || !a.refreshesAfter(n-1) {
			t.Errorf("%d terms: sites are computed %d times, after the last: %v", n, times, a.refreshesAfter(n-1))
		}
	}
}

// A field of effects has no second attempt with counts, one with a train has one.
func TestLinearCountsHaveOneAttempt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		w        synthetic
		attempts int
	}{
		{synthetic{sizes: []int{20, 25}, grouping: [][][]int{{{0}}, {{1}}}, ranks: []int{1, 1}, cells: 2000}, 0},
		{synthetic{sizes: []int{20, 25}, grouping: [][][]int{{{0}, {1}}, {{1}}}, ranks: []int{2, 1}, cells: 2000}, 2},
	} {
		p, _, _ := tc.w.countProblem(t, 5, false, 1.5, likelihood.Poisson{}.Draw)
		if err := p.Field.SetFamily(tt.MeanField); err != nil {
			t.Fatal(err)
		}
		opt := defaults()
		opt.Solver, opt.Sweeps, opt.Likelihood = "cavi", 12, &Likelihood{likelihood.Poisson{}, 1.5}
		saved := new(memoryCheckpointer)
		opt.Checkpointer = saved
		solve(t, p, opt)
		if last := saved.states[len(saved.states)-1].Run; last.Attempt != tc.attempts {
			t.Errorf("%v: %d attempts, expected %d", tc.w.grouping, last.Attempt, tc.attempts)
		}
	}
}

// Priors of series are learned in each of the first sweeps, with sites in some of the others.
func TestSeriesOfSitesAreLearnedInSomeSweeps(t *testing.T) {
	t.Parallel()
	for sweep, want := range []bool{true, true, true, true, true, true, false, false, true, false, false, true} {
		a := &cavi{residuals: residuals{d: &data{sites: &sites{}}}, run: &Run{Sweep: sweep}}
		if got := a.learnsSeries(); got != want {
			t.Errorf("sweep %d with sites: %v", sweep, got)
		}
		if a.d.sites = nil; !a.learnsSeries() {
			t.Errorf("sweep %d without sites: the priors are not learned", sweep)
		}
	}
}
