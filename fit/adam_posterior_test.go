package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

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
	for i, name := range []string{"plain", "wlr", "additive"} {
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
