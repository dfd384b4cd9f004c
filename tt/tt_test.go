package tt_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/backend/ref"
	"github.com/kernel-fried-tensor/kft/internal/gradcheck"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

var modes = []string{"store", "item", "month", "channel"}

// grouping describes a term: the modes of each core, by position, and the rank.
type grouping struct {
	cores [][]int
	rank  int
}

var fields = map[string][]grouping{
	"effect":         {{[][]int{{1}}, 1}},
	"matrix":         {{[][]int{{0}, {2}}, 3}},
	"three":          {{[][]int{{0}, {1}, {2}}, 4}},
	"four":           {{[][]int{{0}, {1}, {2}, {3}}, 3}},
	"joint":          {{[][]int{{0, 1}, {2}}, 2}},
	"joint inner":    {{[][]int{{0}, {1, 3}, {2}}, 3}},
	"joint of three": {{[][]int{{0, 1, 3}}, 1}},
	"sum":            {{[][]int{{0}, {1}, {2}}, 4}, {[][]int{{0, 1}, {2}}, 2}, {[][]int{{3}}, 1}},
}

var sizes = []int{7, 9, 5, 2}

func cells(rng *rand.Rand, n int) [][]int32 {
	codes := make([][]int32, len(sizes))
	for m, size := range sizes {
		codes[m] = make([]int32, n)
		for i := range codes[m] {
			codes[m][i] = int32(rng.IntN(size))
		}
	}
	return codes
}

func build(t *testing.T, terms []grouping, codes [][]int32, rng *rand.Rand) *tt.Field {
	t.Helper()
	f := &tt.Field{}
	for _, g := range terms {
		var index []*entity.Index
		var names [][]string
		var ranks []int
		for _, core := range g.cores {
			x, err := entity.NewIndex(core, sizes, codes)
			if err != nil {
				t.Fatal(err)
			}
			var n []string
			for _, m := range core {
				n = append(n, modes[m])
			}
			index, names, ranks = append(index, x), append(names, n), append(ranks, g.rank)
		}
		train := tt.NewTrain(names, index, ranks)
		train.Initialize(ref.Backend{}, rng, 1)
		f.Terms = append(f.Terms, train)
	}
	return f
}

func engines() map[string]backend.Backend {
	out := map[string]backend.Backend{"ref": ref.Backend{}}
	for _, p := range cpu.Paths() {
		out[string(p)] = cpu.New(p, 2)
	}
	return out
}

// The pullback of every core agrees with central differences of the mean for every
// form of field.
func TestPullback(t *testing.T) {
	t.Parallel()
	for name, terms := range fields {
		for engine, b := range engines() {
			t.Run(name+"/"+engine, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, 2))
				codes := cells(rng, 60)
				f := build(t, terms, codes, rng)
				chunk := f.NewChunk(b, codes)
				adjoint := make([]float32, 60)
				for i := range adjoint {
					adjoint[i] = float32(rng.NormFloat64())
				}
				mean := make([]float32, 60)
				value := func() float64 {
					f.Eval(b, tt.Moments{Mean: mean}, chunk)
					sum := 0.0
					for i := range mean {
						sum += float64(adjoint[i]) * float64(mean[i])
					}
					return sum
				}
				pull := f.Eval(b, tt.Moments{Mean: mean}, chunk)
				grad := f.NewGradients()
				pull(adjoint, grad)
				for k, term := range f.Terms {
					for p, c := range term.Cores {
						// f is linear in one core, so a large step has only
						// rounding error.
						gradcheck.Check(t, fmt.Sprintf("term %d core %d", k, p), c.Slices.Mean, grad[k][p].Mean, value, 0.5, 40, 1e-4)
					}
				}
			})
		}
	}
}

// Evaluation with and without a plan gives the same field.
func TestEvaluateAgreesWithEval(t *testing.T) {
	t.Parallel()
	for name, terms := range fields {
		rng := rand.New(rand.NewPCG(3, 4))
		train := cells(rng, 80)
		f := build(t, terms, train, rng)
		for engine, b := range engines() {
			codes := cells(rng, 50) // contains combinations that did not occur in training
			codes[1][0], codes[0][3] = entity.Unknown, entity.Unknown
			planned, direct := make([]float32, 50), make([]float32, 50)
			f.Eval(b, tt.Moments{Mean: planned}, f.NewChunk(b, codes))
			f.Evaluate(b, direct, codes)
			for i := range planned {
				if math.Abs(float64(planned[i]-direct[i])) > 1e-5 {
					t.Errorf("%s on %s: got %g with a plan and %g without at cell %d, want equal", name, engine, planned[i], direct[i], i)
				}
			}
		}
	}
}

// A chunk that follows the field evaluates the terms and ranks that are left, and all of them again.
func TestReshape(t *testing.T) {
	t.Parallel()
	for engine, b := range engines() {
		rng := rand.New(rand.NewPCG(5, 6))
		codes := cells(rng, 80)
		f := build(t, fields["sum"], codes, rng)
		all, chunk := f.Terms, f.NewChunk(b, codes)
		for _, step := range []struct {
			terms []*tt.Train
			rank  int
		}{{all[:1], 1}, {all, 2}} {
			f.Terms = step.terms
			ranks := all[0].Ranks()
			for i := range ranks {
				ranks[i] = step.rank
			}
			all[0].Resize(ranks)
			all[0].Initialize(b, rng, 1)
			chunk.Reshape(b, f)
			got, want := make([]float32, 80), make([]float32, 80)
			f.Eval(b, tt.Moments{Mean: got}, chunk)
			f.Evaluate(b, want, codes)
			for i := range want {
				if math.Abs(float64(got[i]-want[i])) > 1e-5 {
					t.Errorf("%s, %d terms: got %g, want %g at cell %d", engine, len(f.Terms), got[i], want[i], i)
				}
			}
		}
	}
}

// A reversed train with transposed slices is the same field.
func TestReversedTrain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	codes := cells(rng, 70)
	f := build(t, []grouping{{[][]int{{0}, {1, 3}, {2}}, 4}}, codes, rng)
	forward := f.Terms[0]
	backward := &tt.Train{}
	for _, c := range slices.Backward(forward.Cores) {
		s := backend.NewSlices(backend.Shape{Left: c.Slices.Right, N: c.Slices.N, Right: c.Slices.Left})
		for e := range s.N {
			for a := range s.Left {
				for b := range s.Right {
					s.Mean[(e*s.Left+a)*s.Right+b] = c.Slices.Mean[(e*s.Right+b)*s.Left+a]
				}
			}
		}
		flipped := tt.NewCore(c.Modes, c.Index, s.Shape)
		copy(flipped.Free, s.Mean)
		backward.Cores = append(backward.Cores, flipped)
	}
	one, two := make([]float32, 70), make([]float32, 70)
	f.Evaluate(ref.Backend{}, one, codes)
	(&tt.Field{Terms: []*tt.Train{backward}}).Evaluate(ref.Backend{}, two, codes)
	for i := range one {
		if math.Abs(float64(one[i]-two[i])) > 1e-6 {
			t.Fatalf("cell %d: got %g backward, want %g as forward", i, two[i], one[i])
		}
	}
}

// Initial values give the field the requested standard deviation for every form.
func TestInitialScale(t *testing.T) {
	t.Parallel()
	for _, terms := range [][]grouping{{{[][]int{{0}, {1}, {2}}, 16}}, {{[][]int{{0, 1}, {2}}, 5}}, {{[][]int{{0}, {1}, {2}, {3}}, 8}}} {
		rng := rand.New(rand.NewPCG(7, 8))
		codes := cells(rng, 300)
		sum, n := 0.0, 0
		for range 60 {
			f := build(t, terms, codes, rng)
			f.Terms[0].Initialize(ref.Backend{}, rng, 2)
			mean := make([]float32, 300)
			f.Evaluate(ref.Backend{}, mean, codes)
			for _, v := range mean {
				sum += float64(v) * float64(v)
				n++
			}
		}
		if sd := math.Sqrt(sum / float64(n)); sd < 1.6 || sd > 2.4 {
			t.Errorf("%v: got standard deviation %.2f, want about 2", terms, sd)
		}
	}
}

func TestIndex(t *testing.T) {
	t.Parallel()
	codes := [][]int32{{0, 0, 2, 0}, {1, 3, 3, 1}, {0, 0, 0, 0}, {0, 1, 0, 0}}
	x, err := entity.NewIndex([]int{0, 1}, []int{3, 4, 1, 2}, codes)
	if err != nil {
		t.Fatal(err)
	}
	if x.Entities() != 4 { // (0,1), (0,3), (2,3) and the prior
		t.Fatalf("got %d entities, want 4", x.Entities())
	}
	ask := [][]int32{{0, 2, 2, -1, 0}, {3, 3, 1, 1, -1}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}}
	want := []int32{1, 2, x.Prior(), x.Prior(), x.Prior()}
	got := make([]int32, 5)
	x.Lookup(got, ask)
	if !slices.Equal(got, want) {
		t.Errorf("got entities %v, want %v", got, want)
	}
	back, err := entity.RestoreIndex([]int{0, 1}, []int{3, 4, 1, 2}, x.Combinations())
	if err != nil {
		t.Fatal(err)
	}
	back.Lookup(got, ask)
	if !slices.Equal(got, want) {
		t.Errorf("restored: got entities %v, want %v", got, want)
	}
	single, err := entity.NewIndex([]int{1}, []int{3, 4, 1, 2}, codes)
	if err != nil {
		t.Fatal(err)
	}
	single.Lookup(got, ask)
	if want := []int32{1, 1, 0, 0, single.Prior()}; !slices.Equal(got, want) {
		t.Errorf("one mode: got %v, want %v", got, want)
	}
	none, err := entity.NewIndex(nil, []int{3, 4, 1, 2}, codes)
	if err != nil {
		t.Fatal(err)
	}
	none.Lookup(got, ask)
	if want := make([]int32, 5); !slices.Equal(got, want) {
		t.Errorf("no mode: got %v, want %v", got, want)
	}
}

func TestIndexErrors(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func() (*entity.Index, error){
		"too many combinations": func() (*entity.Index, error) {
			big := 1 << 31
			return entity.NewIndex([]int{0, 1, 2}, []int{big, big, big}, [][]int32{{0}, {0}, {0}})
		},
		"not a multiple": func() (*entity.Index, error) { return entity.RestoreIndex([]int{0, 1}, []int{3, 3}, []int32{0, 1, 2}) },
		"out of range":   func() (*entity.Index, error) { return entity.RestoreIndex([]int{0}, []int{3}, []int32{3}) },
		"twice": func() (*entity.Index, error) {
			return entity.RestoreIndex([]int{0, 1}, []int{3, 3}, []int32{0, 1, 0, 1})
		},
		"twice, one mode": func() (*entity.Index, error) { return entity.RestoreIndex([]int{0}, []int{3}, []int32{1, 1}) },
	} {
		if _, err := make(); err == nil {
			t.Errorf("%s: got no error, want one", name)
		}
	}
}

// Entities without training data are predicted by the mean of the trained ones.
func TestPrior(t *testing.T) {
	t.Parallel()
	codes := [][]int32{{0, 1}, {0, 0}, {0, 0}, {0, 0}}
	x, _ := entity.NewIndex([]int{0}, sizes, codes)
	train := tt.NewTrain([][]string{{"store"}}, []*entity.Index{x}, nil)
	copy(train.Cores[0].Slices.Mean, []float32{1, 3, 99})
	train.Cores[0].Refresh(ref.Backend{}, false)
	got := make([]float32, 3)
	(&tt.Field{Terms: []*tt.Train{train}}).Evaluate(ref.Backend{}, got, [][]int32{{1, 5, entity.Unknown}})
	if want := []float32{3, 2, 2}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func Example() {
	// A 2 x 3 table as a train of rank 1: f(i, j) = a(i) b(j).
	codes := [][]int32{{0, 0, 0, 1, 1, 1}, {0, 1, 2, 0, 1, 2}}
	rows, _ := entity.NewIndex([]int{0}, []int{2, 3}, codes)
	columns, _ := entity.NewIndex([]int{1}, []int{2, 3}, codes)
	train := tt.NewTrain([][]string{{"row"}, {"column"}}, []*entity.Index{rows, columns}, []int{1})
	copy(train.Cores[0].Slices.Mean, []float32{1, 10})
	copy(train.Cores[1].Slices.Mean, []float32{1, 2, 3})
	field := &tt.Field{Terms: []*tt.Train{train}}
	mean := make([]float32, 6)
	field.Evaluate(ref.Backend{}, mean, codes)
	fmt.Println(mean)
	// Output: [1 2 3 10 20 30]
}
