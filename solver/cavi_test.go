package solver

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/tt"
)

func posteriorCases() []variantCase {
	return append([]variantCase{
		{"plain", threeCores, tt.Plain, false, nil, nil, false},
		{"plain sum", sumOfTerms, tt.Plain, false, nil, nil, false},
		{"plain four", fourCores, tt.Plain, false, nil, nil, false},
		{"plain of rank 1", synthetic{sizes: threeCores.sizes, grouping: threeCores.grouping, ranks: []int{1}, cells: 1000, noise: 0.2}, tt.Plain, false, nil, nil, false},
	}, variantCases()...)
}

// No block decreases the evidence bound, in any variant and family.
func TestBoundNeverDecreases(t *testing.T) {
	t.Parallel()
	for _, tc := range posteriorCases() {
		for _, family := range []tt.Family{tt.MeanField, tt.Multivariate, tt.EntityCovariance} {
			t.Run(fmt.Sprintf("%s %s", tc.name, family), func(t *testing.T) {
				tc.data.cells = 1500
				p := tc.problem(t, family == tt.EntityCovariance)
				p.Offset = true
				a := newTestCAVI(t, p, family, 6)
				slack := func(bound float64) float64 { return 2e-6 * (math.Abs(bound) + float64(len(a.d.y))) }
				before := math.Inf(-1)
				for sweep := range 4 {
					for i := range a.blocks() {
						a.update(i)
						a.evaluateAll()
						if err := a.failure(); err != nil {
							t.Fatal(err)
						}
						now := a.elbo()
						if !(now >= before-slack(before)) {
							t.Fatalf("sweep %d, %s: the bound decreased from %.6f to %.6f", sweep, a.blockName(i), before, now)
						}
						before = now
					}
					a.endSweep(true)
					if now := a.elbo(); math.Abs(now-before) > slack(before) {
						t.Fatalf("sweep %d: balancing changed the bound from %.6f to %.6f", sweep, before, now)
					}
				}
			})
		}
	}
}

// newTestCAVI returns a cavi solver at the start of a run.
func newTestCAVI(t *testing.T, p *Problem, family tt.Family, steps int) *cavi {
	t.Helper()
	if err := p.Field.SetFamily(family); err != nil {
		t.Fatal(err)
	}
	d := newTestData(t, p)
	run := drawStart(t, d, defaults())
	a := newCAVI(d, p.Train, steps)
	a.begin(run, Ridge{})
	return a
}

// refreshedBound returns the bound after the weights of a block were changed.
func (a *cavi) refreshedBound(i int) float64 {
	at := a.ids[i]
	_, c, _ := a.at(i)
	c.Refresh(a.d.b, c.Map != nil)
	a.evaluate(at.term)
	return a.elbo()
}

// distanceToMaximum fits a parabola to the bound along a move. It returns the distance
// to its maximum in steps, and the decrease of the bound over one step.
func distanceToMaximum(bound func() float64, move func(sign float64)) (steps, fall float64) {
	top := bound()
	move(1)
	up := bound()
	move(-1)
	move(-1)
	down := bound()
	move(1)
	bound() // updates all values
	return (up - down) / (2 * (2*top - up - down)), (2*top - up - down) / 2
}

// perturbation is a change of a posterior that the opposite sign undoes.
type perturbation struct {
	what string
	by   func(sign float64)
}

// perturbations lists small changes of a block's posterior, a few weights of each kind.
func perturbations(rng *rand.Rand, b tt.Block, size int, is func(k int) bool) []perturbation {
	var all []perturbation
	add := func(what string, target *float32, by float64) {
		all = append(all, perturbation{what, func(sign float64) { *target += float32(sign * by) }})
	}
	scale := func(what string, target *float32, by float64) {
		all = append(all, perturbation{what, func(sign float64) { *target *= float32(math.Exp(sign * by)) }})
	}
	s := b.Posterior
	for range 2 {
		k := rng.IntN(len(b.Value))
		if !is(k) {
			continue
		}
		sd := 0.0
		switch {
		case s.Sigma != nil:
			sd = 1
			for _, sigma := range s.Sigma {
				sd *= math.Sqrt(sigma.Trace() / float64(sigma.Columns()))
			}
		default:
			sd = math.Sqrt(float64(s.Var[k]))
		}
		add(fmt.Sprintf("mean %d", k), &b.Value[k], sd)
		switch {
		case s.Sigma != nil:
			sigma := s.Sigma[len(s.Sigma)-1] // the one solved last
			i := rng.IntN(max(sigma.Lead, 1))
			for j := range min(i+1, sigma.Lead) {
				add(fmt.Sprintf("factor %d %d", i, j), &sigma.Factor[i*sigma.Lead+j], 0.1*float64(sigma.Factor[i*sigma.Lead+i]))
			}
			for j := range min(2, len(sigma.Diag)) {
				scale(fmt.Sprintf("diagonal %d", j), &sigma.Diag[j], 0.1)
			}
		case s.Cov != nil:
			e, i, j := k/size, k%size, rng.IntN(size)
			at := func(i, j int) *float32 { return &s.Cov[(e*size+i)*size+j] }
			by := 0.02 * math.Sqrt(float64(*at(i, i)**at(j, j)))
			all = append(all, perturbation{fmt.Sprintf("covariance %d %d %d", e, i, j), func(sign float64) {
				*at(i, j) += float32(sign * by)
				if i != j {
					*at(j, i) += float32(sign * by)
				}
				s.Var[k] = *at(i, i)
			}})
		default:
			scale(fmt.Sprintf("variance %d", k), &s.Var[k], 0.1)
		}
	}
	return all
}

// After the closed-form update of a block the bound has no slope along its means,
// variances and covariances, nor along noise and prior variances after theirs.
func TestBlocksReachMaximumOfBound(t *testing.T) {
	t.Parallel()
	for _, tc := range posteriorCases() {
		tc.data.cells = 500
		for _, family := range []tt.Family{tt.MeanField, tt.Multivariate, tt.EntityCovariance} {
			t.Run(fmt.Sprintf("%s %s", tc.name, family), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(12, 12))
				a := newTestCAVI(t, tc.problem(t, true), family, 30)
				for i := range a.blocks() {
					a.update(i)
				}
				check := func(what string, bound func() float64, move func(sign float64)) {
					t.Helper()
					if steps, fall := distanceToMaximum(bound, move); !(math.Abs(steps) < 0.1) || !(fall > 0) {
						t.Errorf("%s: the maximum is %.3f steps away, want less than 0.1; a step decreases the bound by %.3g", what, steps, fall)
					}
				}
				for i := range a.ids {
					a.fixed = true
					a.update(i)
					_, c, b := a.at(i)
					size := c.Slices.Slice()
					is := func(k int) bool { return b.Map != nil || k < len(b.Value)-size }
					for _, m := range perturbations(rng, b, size, is) {
						check(a.blockName(i)+" "+m.what, func() float64 { return a.refreshedBound(i) }, m.by)
					}
					a.fixed = false
					a.learnPrior(i)
					check(a.blockName(i)+" prior", a.elbo, func(sign float64) { b.Posterior.PriorVar[0] *= float32(math.Exp(0.05 * sign)) })
					a.evaluateAll()
					a.learnNoise()
					check(a.blockName(i)+" noise", a.elbo, func(sign float64) { a.d.noise[0] *= float32(math.Exp(0.05 * sign)) })
				}
			})
		}
	}
}

// A step of a kernel does not decrease the bound.
func TestKernelsNeverDecreaseBound(t *testing.T) {
	t.Parallel()
	kept := 0
	for _, v := range []tt.Variant{tt.Side, tt.WLR, tt.Additive} {
		p, _ := learnableProblem(t, v, -1)
		a := newTestCAVI(t, p, tt.MeanField, 6)
		for range 8 {
			a.runSweeps(1)
			before := a.elbo()
			ok, err := a.d.kernels[0].learn(a.d, Ridge{Kind: Uniform})
			if err != nil {
				t.Fatal(err)
			}
			a.evaluateAll()
			switch now := a.elbo(); {
			case !ok && math.Abs(now-before) > 1e-6*math.Abs(before):
				t.Errorf("%s: a rejected step changed the bound from %.4f to %.4f", v, before, now)
			case ok && !(now > before):
				t.Errorf("%s: the bound decreased from %.4f to %.4f", v, before, now)
			case ok:
				kept++
			}
		}
	}
	if kept == 0 {
		t.Error("no step was kept")
	}
}
