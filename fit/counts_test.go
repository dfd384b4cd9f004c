package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/tt"
)

// counted replaces targets by counts of logarithmic rate offset + f, f the true
// field, and returns the problem with f at training and validation cells.
func (w world) counted(t testing.TB, seed uint64, weighted bool, offset float64, draw func(rng *rand.Rand, f float64) float64) (p *Problem, train, valid []float32) {
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

// countAscent returns a cavi solver for counts at the start of a run.
func countAscent(t *testing.T, p *Problem, family tt.Family, c Counts) *cavi {
	t.Helper()
	if err := p.Field.SetFamily(family); err != nil {
		t.Fatal(err)
	}
	d, err := newData(p)
	if err != nil {
		t.Fatal(err)
	}
	d.startCounts(c)
	s := &session{d: d, opt: defaults(), state: &State{}}
	if err := s.fresh(); err != nil {
		t.Fatal(err)
	}
	a := newCAVI(d, p.Train, 10)
	a.begin(&s.state.Run, Ridge{})
	return a
}

// No term, no size and no evening out lowers the bound of negative binomial
// counts.
func TestCountBoundNeverFalls(t *testing.T) {
	nb := likelihood.NegativeBinomial{Size: 2}
	for name, w := range map[string]world{"three": three, "sum": sum} {
		for _, family := range []tt.Family{tt.MeanField, tt.Rows} {
			w.cells = 1500
			p, _, _ := w.counted(t, 3, family == tt.Rows, 1, nb.Draw)
			a := countAscent(t, p, family, Counts{Law: "negative-binomial", Offset: 1})
			before := math.Inf(-1)
			check := func(what string) {
				t.Helper()
				now := a.elbo()
				if !(now >= before-2e-6*math.Abs(before)) {
					t.Errorf("%s %s, %s: the bound fell from %.6f to %.6f", name, family, what, before, now)
				}
				before = now
			}
			for sweep := range 8 {
				for i := range a.blocks() {
					a.update(i)
					if err := a.failure(); err != nil {
						t.Fatal(err)
					}
					if i+1 == a.blocks() || a.block[i+1].term != a.block[i].term { // sites are taken anew
						check(fmt.Sprintf("sweep %d, %s", sweep, a.blockName(i)))
					}
				}
				a.endSweep(true)
				check(fmt.Sprintf("sweep %d, size %g", sweep, a.d.size[0]))
			}
		}
	}
}

// The bound of counts lies below the evidence, which is a product of integrals
// where each entity has a number of its own.
func TestCountBoundIsBelowTheEvidence(t *testing.T) {
	w := world{sizes: []int{4}, grouping: [][][]int{{{0}}}, ranks: []int{1}, cells: 40}
	for _, law := range []string{"poisson", "negative-binomial"} {
		p, _, _ := w.counted(t, 4, false, 1, likelihood.NegativeBinomial{Size: 3}.Draw)
		a := countAscent(t, p, tt.MeanField, Counts{Law: law, Offset: 1})
		for range 60 {
			a.update(0)
			a.endSweep(true)
		}
		_, c, b := a.at(0)
		index := p.Field.Terms[0].Lookup(p.Train.Codes)[0]
		prior, want := float64(b.Spread.PriorVar[0]), 0.0
		for e := range c.Slices.N - 1 {
			want += logIntegral(func(x float64) float64 {
				sum := -x*x/2 - math.Log(2*math.Pi)/2
				for n, y := range p.Train.Y {
					if int(index[n]) != e {
						continue
					}
					if f := 1 + x*math.Sqrt(prior); law == "poisson" {
						sum += likelihood.Poisson{}.LogProb(float64(y), f)
					} else {
						sum += a.d.law().LogProb(float64(y), f)
					}
				}
				return sum
			})
		}
		if gap := want - a.elbo(); !(gap > 0 && gap < 1) {
			t.Errorf("%s: log evidence %.4f, %.4f above the bound", law, want, gap)
		}
	}
}

// Rates and size are found again.
func TestCountsFindTheRates(t *testing.T) {
	const offset = 1.5
	nb := likelihood.NegativeBinomial{Size: 4}
	for _, tc := range []struct {
		law         string
		draw        func(rng *rand.Rand, f float64) float64
		correlation float64
	}{
		{"poisson", likelihood.Poisson{}.Draw, 0.97},
		{"negative-binomial", nb.Draw, 0.94},
	} {
		for _, validated := range []bool{true, false} {
			w := three
			w.cells = 8000
			p, _, truth := w.counted(t, 5, false, offset, tc.draw)
			codes := p.Valid.Codes
			if !validated {
				p.Valid = Observations{}
			}
			if err := p.Field.SetFamily(tt.MeanField); err != nil {
				t.Fatal(err)
			}
			opt := defaults()
			opt.Solver, opt.Sweeps, opt.Counts = "cavi", 40, &Counts{Law: tc.law, Offset: offset}
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
			what := fmt.Sprintf("%s, validation %v", tc.law, validated)
			if c := xy / math.Sqrt(xx*yy); !(c > tc.correlation) {
				t.Errorf("%s: correlation %.3f of logarithmic rates", what, c)
			}
			if error > 0.13 || math.Abs(bias) > 0.02 {
				t.Errorf("%s: logarithmic rates are off by %.3f, %.3f of it common to all", what, error, bias)
			}
			if tc.law != "poisson" && math.Abs(math.Log(r.Size/nb.Size)) > 0.15 {
				t.Errorf("%s: size %.3f, want %g", what, r.Size, nb.Size)
			}
			if r.Stop != Converged {
				t.Errorf("%s: %s after %d sweeps", what, r.Stop, len(r.Points))
			}
		}
	}
}
