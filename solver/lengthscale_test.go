package solver

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/gradcheck"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// bumps is a learnable operator: Gaussian bumps of width exp(theta) at fixed
// positions on a line of entities.
type bumps struct {
	n, m  int
	theta float64
	a     []float32
}

func newBumps(n, m int, theta float64) *bumps {
	b := &bumps{n: n, m: m}
	if err := b.SetTheta([]float64{theta}); err != nil {
		panic(err)
	}
	return b
}

func (b *bumps) Rows() int         { return b.n }
func (b *bumps) Columns() int      { return b.m }
func (b *bumps) Matrix() []float32 { return b.a }
func (b *bumps) Theta() []float64  { return []float64{b.theta} }

func (b *bumps) distance(i, j int) float64 {
	return float64(i)/float64(b.n) - float64(j)/float64(b.m)
}

func (b *bumps) SetTheta(theta []float64) error {
	if math.Abs(theta[0]) > 6 {
		return errors.New("too far")
	}
	b.theta = theta[0]
	b.a = make([]float32, b.n*b.m)
	for i := range b.a {
		d := b.distance(i/b.m, i%b.m) / math.Exp(b.theta)
		b.a[i] = float32(math.Exp(-d * d / 2))
	}
	return nil
}

func (b *bumps) ThetaGradient(gradT, weights []float32, w int) []float64 {
	sum := 0.0
	for i := range b.n {
		for j := range b.m {
			d := b.distance(i, j) / math.Exp(b.theta)
			da := float64(b.a[i*b.m+j]) * d * d
			for k := range w {
				sum += float64(gradT[i*w+k]) * da * float64(weights[j*w+k])
			}
		}
	}
	return []float64{sum}
}

// learnableProblem returns a problem whose second core is a regression on bumps.
func learnableProblem(t *testing.T, v tt.Variant, theta float64) (*Problem, *bumps) {
	t.Helper()
	p := threeCores.problem(t, 13, false)
	op := newBumps(threeCores.sizes[1], 6, theta)
	c := p.Field.Terms[0].Cores[1]
	m, err := regression.NewLinearMap(c.Index, []regression.Operator{op}, c.Slices.Slice())
	if err != nil {
		t.Fatal(err)
	}
	c.Regress(v, m, nil)
	p.Kernels = []Kernel{{Mode: "b", Operator: op}}
	return p, op
}

func TestKernelGradient(t *testing.T) {
	t.Parallel()
	for _, v := range []tt.Variant{tt.Side, tt.WLR, tt.Additive} {
		p, op := learnableProblem(t, v, -2)
		d := newTestData(t, p)
		p.Field.Terms[0].Initialize(p.Backend, rand.New(rand.NewPCG(1, 1)), 1)
		ridge := Ridge{Kind: Uniform, Lambda: 0.1}
		d.objective(ridge)
		b := d.kernels[0]
		g := b.gradient(d)
		theta := []float32{float32(op.theta)}
		gradcheck.Check(t, string(v), theta, []float32{float32(g[0])}, func() float64 {
			if err := b.set(d.b, []float64{float64(theta[0])}); err != nil {
				t.Fatal(err)
			}
			return d.objective(ridge)
		}, 0.01, 1, 0.02)
	}
}

// The width that generated the data is recovered from a wrong start.
func TestLengthScaleIsLearned(t *testing.T) {
	t.Parallel()
	const truth = -2.5
	made, _ := learnableProblem(t, tt.Side, truth)
	rng := rand.New(rand.NewPCG(3, 3))
	made.Field.Terms[0].Initialize(made.Backend, rng, 1)
	c := made.Field.Terms[0].Cores[1]
	for i := range c.Weight {
		c.Weight[i] += float32(rng.NormFloat64())
	}
	c.Refresh(made.Backend, true)
	for _, solver := range []string{"als", "adam"} {
		p, op := learnableProblem(t, tt.Side, -1)
		for _, o := range []*Observations{&p.Train, &p.Valid} {
			o.Y = make([]float32, o.Len())
			made.Field.Evaluate(p.Backend, o.Y, o.Codes)
		}
		center, spread := standardise(p.Train.Y)
		for _, o := range []*Observations{&p.Train, &p.Valid} {
			for i := range o.Y {
				o.Y[i] = float32((float64(o.Y[i]) - center) / spread)
			}
		}
		opt := defaults()
		opt.Ridge, opt.Solver, opt.Sweeps, opt.Patience = &Ridge{Kind: Uniform, Lambda: 1e-3}, solver, 60, 60
		fixed := *p
		fixed.Kernels = nil
		without := solve(t, &fixed, opt).Score
		with := solve(t, p, opt).Score
		if !(with < 0.7*without) || !(op.theta < -1.3) {
			t.Errorf("%s: got error %.4f at width exp(%.2f), want less than 0.7 times the %.4f without learning", solver, with, op.theta, without)
		}
	}
}

// Runs with kernels resume identically, also in both phases of adam for posteriors.
func TestResumeWithKernels(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		solver    string
		sweeps    int
		posterior bool
	}{{"als", 5, false}, {"adam", 5, false}, {"cavi", 5, true}, {"adam", 6, true}} {
		t.Run(fmt.Sprintf("%s, posterior %v", tc.solver, tc.posterior), func(t *testing.T) {
			opt := defaults()
			opt.Sweeps, opt.Solver = tc.sweeps, tc.solver
			checkResume(t, opt, 1, math.MaxInt, func() *Problem {
				p, _ := learnableProblem(t, tt.WLR, -1)
				if tc.posterior {
					if err := p.Field.SetFamily(tt.MeanField); err != nil {
						t.Fatal(err)
					}
				}
				return p
			})
		})
	}
}
