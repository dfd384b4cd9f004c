package solver

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/solver/moments"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// adamOptions returns the options of an adam run for posteriors.
func adamOptions(sweeps int, schedule Schedule) Options {
	opt := defaults()
	opt.Solver, opt.Sweeps, opt.Schedule = "adam", sweeps, schedule
	return opt
}

// boundAndVariance returns the evidence bound per observation and the mean variance
// of the field at the validation cells.
func boundAndVariance(t *testing.T, p *Problem, r Report) (bound, variance float64) {
	t.Helper()
	d := newTestData(t, p)
	d.noise[0] = float32(r.Noise)
	rest := newResiduals(d, p.Train, true)
	rest.evaluateAll()
	n := p.Valid.Len()
	m := tt.Moments{Mean: make([]float32, n), Var: make([]float32, n)}
	p.Field.EvaluateMoments(p.Backend, m, p.Valid.Codes)
	for _, v := range m.Var {
		variance += float64(v) / float64(n)
	}
	return d.elbo(rest.loss()) / float64(len(d.y)), variance
}

// sameFormProblem returns the problem of a case with targets drawn from a field of
// the same form.
func sameFormProblem(t *testing.T, tc variantCase, family tt.Family) *Problem {
	t.Helper()
	p, truth := tc.problem(t, false), tc.problem(t, false)
	rng := rand.New(rand.NewPCG(8, 8))
	for _, term := range truth.Field.Terms {
		term.Initialize(p.Backend, rng, 1)
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

// Adam reaches about the same bound as cavi, with positive variances and about the
// same mean variance of the field.
func TestAdamAgreesWithCAVI(t *testing.T) {
	t.Parallel()
	cases := posteriorCases()
	for i, name := range []string{"plain", "wlr", "additive"} {
		tc := cases[slices.IndexFunc(cases, func(c variantCase) bool { return c.name == name })]
		for k, family := range []tt.Family{tt.MeanField, tt.Multivariate} {
			var bound, variance [2]float64
			for i, opt := range []Options{defaults(), adamOptions(100, []Schedule{Joint, Blocks}[(i+k)%2])} {
				if i == 0 {
					opt.Solver, opt.Sweeps = "cavi", 40
				}
				opt.Seed = 2
				p := sameFormProblem(t, tc, family)
				r := solve(t, p, opt)
				bound[i], variance[i] = boundAndVariance(t, p, r)
				if i == 1 {
					checkPositiveVariances(t, p.Field)
					if math.Abs(r.Score+bound[i]) > 1e-4 {
						t.Errorf("%s: got score %.5f, want the negative bound %.5f", name, r.Score, -bound[i])
					}
				}
			}
			what := fmt.Sprintf("%s, %s: bound per observation %.4f, with cavi %.4f; variance %.5f, with cavi %.5f", name, family, bound[1], bound[0], variance[1], variance[0])
			t.Log(what)
			if !(math.Abs(bound[1]-bound[0]) < 0.05) || !(math.Abs(variance[1]/variance[0]-1) < 0.25) {
				t.Error(what)
			}
		}
	}
}

func checkPositiveVariances(t *testing.T, f *tt.Field) {
	t.Helper()
	for _, term := range f.Terms {
		for _, c := range term.Cores {
			for _, b := range c.Blocks() {
				for _, sigma := range b.Posterior.Sigma {
					if v := sigma.LogDet(); math.IsNaN(v) || math.IsInf(v, 0) {
						t.Fatalf("%s: got log determinant %g, want a finite one", b.Name, v)
					}
				}
				for _, v := range b.Posterior.Var {
					if !(v > 0) || math.IsInf(float64(v), 0) {
						t.Fatalf("%s: got variance %g, want a positive one", b.Name, v)
					}
				}
			}
		}
	}
}

// The derivatives of the bound that adam uses agree with finite differences: with
// respect to means, log variances and factors of covariances.
func TestAdamBoundGradient(t *testing.T) {
	t.Parallel()
	const h = 1.0 / 32
	for _, tc := range append(posteriorCases(), variantCase{name: "a mode without operator", data: sumOfTerms}) {
		tc.data.cells = 500
		for _, family := range []tt.Family{tt.MeanField, tt.Multivariate, tt.EntityCovariance} {
			for _, phase := range []phase{means, variances} {
				p := tc.problem(t, true)
				if tc.variant == "" {
					c := p.Field.Terms[1].Cores[0]
					op := operator(rand.New(rand.NewPCG(4, 4)), tc.data.sizes[0], 4)
					m, err := regression.NewLinearMap(c.Index, []regression.Operator{op, nil}, c.Slices.Slice())
					if err != nil {
						t.Fatal(err)
					}
					c.Regress(tt.WLR, m, nil)
				}
				opt := adamOptions(4, Joint)
				opt.Batch = 1
				a, bound := frozenAdam(t, p, family, phase, opt)
				a.step(&a.batches[0], a.grad) // a learning rate of 0 changes no weight
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
					got := float64(a.run.Memory[0][at]) / (1 - moments.DecayMean)
					if math.Abs(got-want) > 0.02*math.Abs(want)+2e-5 {
						t.Errorf("%s, %s, %s: got %g, want %g by differences", tc.name, family, what, got, want)
					}
				}
				for _, term := range p.Field.Terms {
					for _, c := range term.Cores {
						for _, b := range c.Blocks() {
							n := len(b.Value)
							if b.Map == nil {
								n -= c.Slices.Slice() // without the prior's slice
							}
							switch {
							case phase == means:
								for i := 0; i < n; i += 1 + n/4 {
									check(fmt.Sprintf("%s mean %d", b.Name, i), offset+i, func(sign float64) { b.Value[i] += float32(sign * h) })
								}
							case b.Posterior.Sigma == nil:
								for i := 0; i < n; i += 1 + n/4 {
									size := c.Slices.Slice()
									check(fmt.Sprintf("%s variance %d", b.Name, i), offset+i, func(sign float64) {
										b.Posterior.Var[i] *= float32(math.Exp(sign * h))
										if b.Posterior.Cov != nil {
											b.Posterior.Cov[i*size+i%size] = b.Posterior.Var[i]
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
	for q, sigma := range b.Posterior.Sigma {
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

// frozenAdam returns adam in a phase, with learning rate 0 and away from any optimum,
// and a function that computes the bound at the current weights.
func frozenAdam(t *testing.T, p *Problem, family tt.Family, at phase, opt Options) (*adam, func() float64) {
	t.Helper()
	if err := p.Field.SetFamily(family); err != nil {
		t.Fatal(err)
	}
	d := newTestData(t, p)
	run := drawStart(t, d, opt)
	a := newAdam(d, p.Train, opt)
	a.begin(run, Ridge{})
	for range 3 {
		a.step(&a.batches[0], a.grad)
	}
	d.phase = variances
	a.resetMoments()
	for range 20 {
		a.step(&a.batches[0], a.grad)
	}
	d.noise[0], d.phase, run.Rate = 0.3, at, 0
	a.resetMoments()
	return a, func() float64 {
		for _, term := range p.Field.Terms {
			for _, c := range term.Cores {
				c.Refresh(d.b, c.Map != nil)
			}
		}
		a.knownLoss = math.NaN()
		return d.elbo(a.loss())
	}
}
