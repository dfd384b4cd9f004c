package solver

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/backend/ref"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// synthetic is a field with known weights and noisy observations of it.
type synthetic struct {
	sizes    []int
	grouping [][][]int // [term][core]modes
	ranks    []int     // per term
	cells    int
	noise    float64
}

var threeCores = synthetic{sizes: []int{20, 25, 8}, grouping: [][][]int{{{0}, {1}, {2}}}, ranks: []int{3}, cells: 4000, noise: 0.2}

var sumOfTerms = synthetic{sizes: []int{20, 25, 8}, grouping: [][][]int{{{0}, {1}, {2}}, {{0, 1}, {2}}, {{1}}}, ranks: []int{3, 2, 1}, cells: 4000, noise: 0.2}

var fourCores = synthetic{sizes: []int{12, 10, 8, 6}, grouping: [][][]int{{{0}, {1}, {2}, {3}}}, ranks: []int{2}, cells: 4000, noise: 0.2}

func (w synthetic) field(t testing.TB, codes [][]int32) *tt.Field {
	t.Helper()
	f := &tt.Field{}
	for k, cores := range w.grouping {
		var index []*entity.Index
		var names [][]string
		for _, core := range cores {
			x, err := entity.NewIndex(core, w.sizes, codes)
			if err != nil {
				t.Fatal(err)
			}
			var n []string
			for _, m := range core {
				n = append(n, string(rune('a'+m)))
			}
			index, names = append(index, x), append(names, n)
		}
		f.Terms = append(f.Terms, tt.NewTrain(names, index, slices.Repeat([]int{w.ranks[k]}, len(cores)-1)))
	}
	return f
}

// problem draws the truth and splits the cells 3:1 into training and validation set.
func (w synthetic) problem(t testing.TB, seed uint64, weighted bool) *Problem {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 9))
	codes := make([][]int32, len(w.sizes))
	for m, n := range w.sizes {
		for range w.cells {
			codes[m] = append(codes[m], int32(rng.IntN(n)))
		}
	}
	truth := w.field(t, codes)
	for _, term := range truth.Terms {
		term.Initialize(ref.Backend{}, rng, 1/math.Sqrt(float64(len(truth.Terms))))
	}
	y := make([]float32, w.cells)
	truth.Evaluate(ref.Backend{}, y, codes)
	square := 0.0
	for _, v := range y {
		square += float64(v) * float64(v) / float64(w.cells)
	}
	var weights []float32
	for i := range y {
		y[i] = float32(float64(y[i])/math.Sqrt(square) + w.noise*rng.NormFloat64())
		if weighted {
			weights = append(weights, float32(rng.IntN(3)))
		}
	}
	cut := w.cells * 3 / 4
	part := func(from, to int) Observations {
		o := Observations{Y: y[from:to]}
		for _, c := range codes {
			o.Codes = append(o.Codes, c[from:to])
		}
		if weights != nil {
			o.W = weights[from:to]
		}
		return o
	}
	p := &Problem{Backend: cpu.New(cpu.Paths()[0], 2), Train: part(0, cut), Valid: part(cut, w.cells)}
	p.Field = w.field(t, p.Train.Codes)
	return p
}

func defaults() Options {
	return Options{Solver: "als", Ridge: &Ridge{Kind: Uniform, Lambda: 0.3}, Sweeps: 25, Patience: 5, CGSteps: 6, LearningRate: 0.05, Batch: 0.1, Schedule: Joint, Seed: 1}
}

func solve(t *testing.T, p *Problem, opt Options) Report {
	t.Helper()
	r, err := Solve(t.Context(), p, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func newTestData(t *testing.T, p *Problem) *data {
	t.Helper()
	d, err := newData(p)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// drawStart draws the start values of a run and returns the run.
func drawStart(t *testing.T, d *data, opt Options) *Run {
	t.Helper()
	dr := &driver{d: d, opt: opt, state: &State{}}
	for _, k := range d.kernels {
		dr.startTheta = append(dr.startTheta, k.Operator.Theta())
	}
	if err := dr.drawStart(0); err != nil {
		t.Fatal(err)
	}
	return &dr.state.Run
}
