package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/tt"
)

// adamOptions are those of a run on posteriors.
func adamOptions(sweeps int, schedule Schedule) Options {
	opt := defaults()
	opt.Solver, opt.Sweeps, opt.Schedule = "adam", sweeps, schedule
	return opt
}

// boundOf returns the evidence bound an observation of a fit, and the mean
// variance of the field at validation cells.
func boundOf(t *testing.T, p *Problem, r Report) (bound, variance float64) {
	t.Helper()
	d, err := newData(p)
	if err != nil {
		t.Fatal(err)
	}
	d.noise[0] = float32(r.Noise)
	rest := newRemainder(d, p.Train)
	rest.evaluateAll()
	n := p.Valid.Len()
	m := tt.Moments{Mean: make([]float32, n), Var: make([]float32, n)}
	p.Field.EvaluateMoments(p.Backend, m, p.Valid.Codes)
	for _, v := range m.Var {
		variance += float64(v) / float64(n)
	}
	return d.elbo(rest.loss()) / float64(len(d.y)), variance
}

// ownTruth returns a case's problem with targets from a field of its own form.
func ownTruth(t *testing.T, tc variantCase, family tt.Family) *Problem {
	t.Helper()
	p, truth := tc.problem(t, false), tc.problem(t, false)
	rng := rand.New(rand.NewPCG(8, 8))
	for _, term := range truth.Field.Terms {
		term.Draw(p.Backend, rng, 1)
	}
	for _, o := range []*Observations{&p.Train, &p.Valid} {
		o.Y = make([]float32, o.Len())
		truth.Field.Evaluate(p.Backend, o.Y, o.Codes)
	}
	center, spread := standardise(p.Train.Y)
	for _, o := range []*Observations{&p.Train, &p.Valid} {
		for i, y := range o.Y {
			o.Y[i] = float32((float64(y)-center)/spread + 0.3*rng.NormFloat64())
		}
	}
	if err := p.Field.SetFamily(family); err != nil {
		t.Fatal(err)
	}
	return p
}

// Adam comes near the bound that cavi reaches, with all variances above zero and
// those of the field, on average, near cavi's.
func TestAdamComesNearCAVI(t *testing.T) {
	cases := caviCases()
	for i, name := range []string{"plain", "wlr", "additive", "four, wlr"} {
		tc := cases[slices.IndexFunc(cases, func(c variantCase) bool { return c.name == name })]
		for k, family := range []tt.Family{tt.MeanField, tt.Multivariate} {
			var bound, variance [2]float64
			for i, opt := range []Options{defaults(), adamOptions(100, []Schedule{Joint, Blocks}[(i+k)%2])} {
				if i == 0 {
					opt.Solver, opt.Sweeps = "cavi", 40
				}
				opt.Seed = 2
				p := ownTruth(t, tc, family)
				r := solve(t, p, opt)
				bound[i], variance[i] = boundOf(t, p, r)
				if i == 1 {
					positive(t, p.Field)
					if math.Abs(r.Score+bound[i]) > 1e-4 {
						t.Errorf("%s: score %.5f, bound %.5f", name, r.Score, bound[i])
					}
				}
			}
			what := fmt.Sprintf("%s, %s: bound %.4f an observation, cavi %.4f; variance %.5f, cavi %.5f", name, family, bound[1], bound[0], variance[1], variance[0])
			t.Log(what)
			if !(math.Abs(bound[1]-bound[0]) < 0.05) || !(math.Abs(variance[1]/variance[0]-1) < 0.25) {
				t.Error(what)
			}
		}
	}
}

func positive(t *testing.T, f *tt.Field) {
	t.Helper()
	for _, term := range f.Terms {
		for _, c := range term.Cores {
			for _, b := range c.Blocks() {
				for _, sigma := range b.Spread.Sigma {
					if v := sigma.LogDet(); math.IsNaN(v) || math.IsInf(v, 0) {
						t.Fatalf("%s: log det %g", b.Name, v)
					}
				}
				for _, v := range b.Spread.Var {
					if !(v > 0) || math.IsInf(float64(v), 0) {
						t.Fatalf("%s: variance %g", b.Name, v)
					}
				}
			}
		}
	}
}

// What adam takes for the derivatives of the bound, by means, by logarithms of
// variances and by the factors of covariances, are those of finite differences.
func TestAdamGradientOfTheBound(t *testing.T) {
	const h = 1.0 / 32
	for _, tc := range append(caviCases(), variantCase{name: "a mode without operator", world: sum}) {
		tc.world.cells = 500
		for _, family := range []tt.Family{tt.MeanField, tt.Multivariate, tt.Rows} {
			for _, phase := range []phase{means, variances} {
				p := tc.problem(t, true)
				if tc.variant == "" {
					c := p.Field.Terms[1].Cores[0]
					op := operator(rand.New(rand.NewPCG(4, 4)), tc.world.sizes[0], 4)
					m, err := tt.NewMap(c.Index, []tt.Operator{op, nil}, c.Slices.Slice())
					if err != nil {
						t.Fatal(err)
					}
					c.Regress(tt.WLR, m, nil)
				}
				opt := adamOptions(4, Joint)
				opt.Batch = 1
				a, bound := atRest(t, p, family, phase, opt)
				a.step(&a.batches[0], a.grad) // at rate 0 it moves nothing
				offset, scale := 0, 2*float64(a.d.noise[0])/float64(len(a.d.y))
				check := func(what string, at int, move func(sign float64)) {
					t.Helper()
					move(1)
					up := bound()
					move(-1)
					move(-1)
					down := bound()
					move(1)
					want := -scale * (up - down) / (2 * h)
					got := float64(a.run.Memory[0][at]) / (1 - decayMean)
					if math.Abs(got-want) > 0.02*math.Abs(want)+2e-5 {
						t.Errorf("%s, %s, %s: %g, by differences %g", tc.name, family, what, got, want)
					}
				}
				for _, term := range p.Field.Terms {
					for _, c := range term.Cores {
						for _, b := range c.Blocks() {
							n := len(b.Value)
							if b.Map == nil {
								n -= c.Slices.Slice() // the prior's
							}
							switch {
							case phase == means:
								for i := 0; i < n; i += 1 + n/4 {
									check(fmt.Sprintf("%s mean %d", b.Name, i), offset+i, func(sign float64) { b.Value[i] += float32(sign * h) })
								}
							case b.Spread.Sigma == nil:
								for i := 0; i < n; i += 1 + n/4 {
									size := c.Slices.Slice()
									check(fmt.Sprintf("%s variance %d", b.Name, i), offset+i, func(sign float64) {
										b.Spread.Var[i] *= float32(math.Exp(sign * h))
										if b.Spread.Cov != nil {
											b.Spread.Cov[i*size+i%size] = b.Spread.Var[i]
										}
									})
								}
							default:
								checkSigmas(b, offset, h, check)
							}
							offset += a.parameters(&b)
						}
					}
				}
			}
		}
	}
}

func checkSigmas(b tt.Block, offset int, h float64, check func(what string, at int, move func(sign float64))) {
	for q, sigma := range b.Spread.Sigma {
		lead := sigma.Lead
		for i := range lead {
			row := sigma.Factor[i*lead:][:i+1]
			check(fmt.Sprintf("%s, mode %d, scale of row %d", b.Name, q, i), offset+i*lead+i, func(sign float64) {
				for j := range row {
					row[j] *= float32(math.Exp(sign * h))
				}
			})
			for j := range i {
				check(fmt.Sprintf("%s, mode %d, entry %d of row %d", b.Name, q, j, i), offset+i*lead+j, func(sign float64) {
					row[j] += float32(sign * h * float64(row[i]))
				})
			}
		}
		offset += len(sigma.Factor)
		for i := 0; i < len(sigma.Diag); i += 1 + len(sigma.Diag)/3 {
			check(fmt.Sprintf("%s, mode %d, variance %d", b.Name, q, i), offset+i, func(sign float64) { sigma.Diag[i] *= float32(math.Exp(sign * h)) })
		}
		offset += len(sigma.Diag)
	}
}

// atRest returns adam in a phase, at rate 0 and away from any optimum, and the
// bound as the weights are.
func atRest(t *testing.T, p *Problem, family tt.Family, at phase, opt Options) (*adam, func() float64) {
	t.Helper()
	if err := p.Field.SetFamily(family); err != nil {
		t.Fatal(err)
	}
	d, err := newData(p)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{d: d, opt: opt, state: &State{}}
	if err := s.fresh(); err != nil {
		t.Fatal(err)
	}
	run := &s.state.Run
	a := newAdam(d, p.Train, opt)
	a.begin(run, Ridge{})
	for range 3 {
		a.step(&a.batches[0], a.grad)
	}
	d.phase = variances
	a.remember()
	for range 20 {
		a.step(&a.batches[0], a.grad)
	}
	d.noise[0], d.phase, run.Rate = 0.3, at, 0
	a.remember()
	return a, func() float64 {
		for _, term := range p.Field.Terms {
			for _, c := range term.Cores {
				c.Refresh(d.b, c.Map != nil)
			}
		}
		a.latest = math.NaN()
		return d.elbo(a.loss())
	}
}

// adamRuns are fits whose bits have to be the same however they are run.
func adamRuns() []caviRun {
	return slices.DeleteFunc(caviRuns(), func(r caviRun) bool { return r.counts != nil })
}

func TestAdamPosteriorResumesFromEveryBlock(t *testing.T) {
	for i, run := range adamRuns() {
		for _, validated := range []bool{true, false} {
			opt := adamOptions(8, []Schedule{Joint, Blocks}[i%2])
			opt.Patience = 2
			problem := func() *Problem {
				p := run.problem(t, 600)
				if !validated {
					p.Valid = Observations{}
				}
				return p
			}
			kept := &memory{}
			opt.Keeper = kept
			p := problem()
			whole := solve(t, p, opt)
			want := flatten(nil, p.Field)
			opt.Keeper = nil
			for i := 0; i < len(kept.states); i += 1 + len(kept.states)/9 {
				state := clone(kept.states[i])
				again, resumed := problem(), opt
				resumed.Resume = &state
				r := solve(t, again, resumed)
				if !slices.Equal(flatten(nil, again.Field), want) {
					t.Fatalf("%s: resumed from state %d of %d: other weights", run.name, i, len(kept.states))
				}
				if r.Stop != whole.Stop || r.Score != whole.Score || r.Noise != whole.Noise || r.Best != whole.Best || !slices.Equal(r.Points, whole.Points) {
					t.Fatalf("%s: resumed from state %d: report %+v, want %+v", run.name, i, r, whole)
				}
			}
		}
	}
}

func TestAdamPosteriorThreadsGiveTheSameBits(t *testing.T) {
	for _, run := range adamRuns() {
		var want []float32
		for _, threads := range []int{1, 2, 8} {
			p := run.problem(t, 4000)
			p.Backend = cpu.New(cpu.Paths()[0], threads)
			r := solve(t, p, adamOptions(2, Joint))
			got := append(flatten(nil, p.Field), float32(r.Noise), float32(r.Score))
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d threads give other weights than 1", run.name, threads)
			}
		}
	}
}

// Means that no longer improve do not end a run: the variances follow, and what
// is kept is never worse than where they started.
func TestAdamComesToTheVariances(t *testing.T) {
	p := adamRuns()[0].problem(t, 2000)
	opt := adamOptions(60, Joint)
	opt.Patience = 2
	names := map[string]bool{}
	opt.Progress = func(e Event) { names[e.BlockName] = true }
	r := solve(t, p, opt)
	first := slices.IndexFunc(r.Points, func(p Point) bool { return p.Sweep >= 30 })
	if first < 1 || first >= 30 || r.Points[first].Sweep != 30 {
		t.Fatalf("the second phase began with point %d: %+v", first, r.Points)
	}
	if !names["all cores"] || !names["variances of all cores"] {
		t.Errorf("blocks %v", names)
	}
	for _, point := range r.Points[first:] {
		if point.Score < r.Score || point.Valid > 0.5 {
			t.Errorf("%+v beside the best score, %g", point, r.Score)
		}
	}
	if len(r.Warnings) > 0 {
		t.Error(r.Warnings)
	}
}

// A run that ends before the variances says so.
func TestAdamBeforeTheVariances(t *testing.T) {
	p := adamRuns()[0].problem(t, 600)
	opt := adamOptions(60, Joint)
	clock := time.Unix(0, 0)
	opt.TimeBudget, opt.now = 3*time.Second, func() time.Time { return clock }
	opt.Progress = func(e Event) {
		if e.Point != nil {
			clock = clock.Add(time.Second)
		}
	}
	if r := solve(t, p, opt); r.Stop != Budget || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "before adam came to the variances") {
		t.Errorf("%+v", r)
	}
}

// A bound that is no number is mended from the best posterior, or named.
func TestAdamBoundThatIsNoNumber(t *testing.T) {
	p := adamRuns()[0].problem(t, 700)
	opt := adamOptions(10, Joint)
	opt.Progress = func(e Event) {
		if e.Point != nil && e.Point.Sweep == 6 {
			p.Field.Terms[0].Cores[0].Slices.Var[0] = float32(math.NaN())
		}
	}
	r := solve(t, p, opt)
	positive(t, p.Field)
	if len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0], "diverged once") {
		t.Errorf("warnings %q", r.Warnings)
	}
	p = adamRuns()[0].problem(t, 700)
	p.Train.Y[3] = float32(math.Inf(1))
	_, err := Solve(context.Background(), p, adamOptions(20, Blocks))
	var diverged *DivergedError
	if !errors.As(err, &diverged) || diverged.Block == "" || diverged.Unit != "epoch" {
		t.Errorf("error %v", err)
	}
}

func TestAdamRefuses(t *testing.T) {
	for name, set := range map[string]func(*Options){
		"counts": func(o *Options) { o.Counts = &Counts{Law: "poisson"} },
		"noise":  func(o *Options) { o.Noise = func(_, s []float32) []float64 { return make([]float64, len(s)) } },
		"epochs": func(o *Options) { o.Sweeps = 1 },
	} {
		opt := adamOptions(4, Joint)
		set(&opt)
		if _, err := Solve(context.Background(), adamRuns()[0].problem(t, 600), opt); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
