package tt_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// The mean and the variance of every field, and the expected squared error, agree
// with draws of its weights: at training cells, at entities without training data
// and at unknown entities.
func TestMomentsAgainstDraws(t *testing.T) {
	t.Parallel()
	const draws, trainCells, otherCells = 1000, 24, 12
	b := cpu.New(cpu.Paths()[0], 1)
	for _, tc := range posteriors() {
		t.Run(tc.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 7))
			codes := cells(rng, 60)
			f := tc.field(t, b, codes, rng)
			for m := range codes {
				codes[m] = codes[m][:trainCells]
				for range otherCells {
					codes[m] = append(codes[m], int32(rng.IntN(sizes[m]+1))-1)
				}
			}
			n := len(codes[0])
			got := tt.Moments{Mean: make([]float32, n), Var: make([]float32, n)}
			f.EvaluateMoments(b, got, codes)
			f.EvaluateMoments(b, tt.Moments{}, make([][]int32, len(codes))) // no cells
			y := normal(rng, n, 1).a
			loss := &sums{}
			mean, variance := make([]sums, n), make([]sums, n)
			value := make([]float32, n)
			for range draws {
				f.Sample(b, rng).Evaluate(b, value, codes)
				total := 0.0
				for i, v := range value {
					d := float64(v) - float64(got.Mean[i])
					mean[i].add(float64(v))
					variance[i].add(d * d)
					total += (float64(v) - float64(y[i])) * (float64(v) - float64(y[i]))
				}
				loss.add(total)
			}
			want := 0.0
			for i := range n {
				mean[i].check(t, fmt.Sprintf("mean of cell %d", i), float64(got.Mean[i]), 5)
				variance[i].check(t, fmt.Sprintf("variance of cell %d", i), float64(got.Var[i]), 6) // squares of products have heavy tails
				d := float64(y[i]) - float64(got.Mean[i])
				want += d*d + float64(got.Var[i])
			}
			loss.check(t, "expected squared error", want, 5)
			if e := loss.error() / want; e > 0.04 {
				t.Errorf("relative standard error of the expected squared error: got %.3f, want at most 0.04", e)
			}
			if len(f.Terms) == 1 {
				rows := trainedRows(f, codes, trainCells)
				some := make([][]int32, len(codes))
				var targets []float32
				trained := 0.0
				for _, i := range rows {
					for m := range codes {
						some[m] = append(some[m], codes[m][i])
					}
					targets = append(targets, y[i])
					trained += math.Pow(float64(y[i])-float64(got.Mean[i]), 2) + float64(got.Var[i])
				}
				if len(rows) == 0 {
					t.Fatal("no cell of trained entities")
				}
				if passed := residual(f, b, some, targets); math.Abs(passed-trained) > 1e-4*trained {
					t.Errorf("expected squared error of a pass: got %.6g, want %.6g as for the moments", passed, trained)
				}
			}
		})
	}
}

// trainedRows returns the rows among the first n whose entities all have training
// data. A pass over others takes the entries of their slices as independent.
func trainedRows(f *tt.Field, codes [][]int32, n int) []int {
	var rows []int
	entities := make([]int32, len(codes[0]))
	untrained := make([]bool, len(codes[0]))
	for _, term := range f.Terms {
		for _, c := range term.Cores {
			c.Index.Lookup(entities, codes)
			for i, e := range entities {
				untrained[i] = untrained[i] || int(e) >= c.TrainedEntities()
			}
		}
	}
	for i := range n {
		if !untrained[i] {
			rows = append(rows, i)
		}
	}
	return rows
}

// residual returns the expected squared error computed by a pass over a train.
func residual(f *tt.Field, b backend.Backend, codes [][]int32, y []float32) float64 {
	train := f.Terms[0]
	plan := backend.NewPlan(train.Shapes(), train.Lookup(codes), backend.LeafFirst)
	target := make([]float32, len(y))
	plan.Gather(target, y)
	return b.Pass(plan, train.Slices(), &backend.Job{Adjoint: backend.Residual, SecondMoments: true, Target: target})
}

// Draws of a field that was extended to new codes have the moments of its new
// slices, including the residual variance of their rows.
func TestDrawsOfNewCodes(t *testing.T) {
	t.Parallel()
	const draws = 2000
	b := cpu.New(cpu.Paths()[0], 1)
	for _, variant := range variants {
		for _, family := range []tt.Family{tt.MeanField, tt.Multivariate, tt.EntityCovariance} {
			rng := rand.New(rand.NewPCG(11, 11))
			tc := posterior{"", []grouping{{[][]int{{0}, {2}}, 3}}, variant, family}
			f := tc.field(t, b, cells(rng, 60), rng)
			sampler, err := tt.NewSampler(b, f, 1)
			if err != nil {
				t.Fatal(err)
			}
			n := sizes[0]
			wider := truncated{normal(rng, n+2, 3), make([]float32, n+2)}
			copy(wider.a, f.Terms[0].Cores[0].Operators()[0].Matrix()) // an extension keeps the rows of training
			wider.residual[n], wider.residual[n+1] = 0.5, 2
			extended := append([]int{n + 2}, sizes[1:]...)
			if err := f.Terms[0].Cores[0].Extend(b, entity.Axes([]int{0}, extended), []regression.Operator{wider}, [][]int32{{int32(n), int32(n + 1)}}); err != nil {
				t.Fatal(err)
			}
			codes := [][]int32{{int32(n), int32(n + 1), -1}, {0, 0, 0}, {1, 2, 3}, {0, 0, 0}}
			got := tt.Moments{Mean: make([]float32, 3), Var: make([]float32, 3)}
			f.EvaluateMoments(b, got, codes)
			var mean, variance [3]sums
			value := make([]float32, 3)
			prepared, err := sampler.Cells(f, codes, keyOf(codes))
			if err != nil {
				t.Fatal(err)
			}
			for number := range draws {
				sampler.Draw(b, number).Evaluate(b, value, prepared)
				for i, v := range value {
					mean[i].add(float64(v))
					variance[i].add(math.Pow(float64(v)-float64(got.Mean[i]), 2))
				}
			}
			for i := range mean {
				what := fmt.Sprintf("%s %s, cell %d", variant, family, i)
				mean[i].check(t, what+", mean", float64(got.Mean[i]), 5)
				variance[i].check(t, what+", variance", float64(got.Var[i]), 6)
			}
		}
	}
}

// truncated is an operator with residual variance.
type truncated struct {
	matrix
	residual []float32
}

func (o truncated) ResidualVariance() []float32 { return o.residual }

// The bound of the work of the other plan does not depend on the number of threads.
func TestOtherWorkOnThreads(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 9))
	shapes := []backend.Shape{{N: 30, Left: 1, Right: 2}, {N: 50, Left: 2, Right: 3}, {N: 9, Left: 3, Right: 1}}
	index := make([][]int32, len(shapes))
	for p, s := range shapes {
		for range 5000 {
			index[p] = append(index[p], random.Int32N(int32(s.N)))
		}
	}
	plan := backend.NewPlan(shapes, index, backend.LeafFirst)
	pairs := map[[2]int32]bool{}
	for c := range index[0] {
		pairs[[2]int32{index[1][c], index[0][c]}] = true
	}
	want := 3*5000*float64(shapes[2].Slice()*shapes[2].Slice()) + 3*float64(len(pairs))*float64(6*5)
	for _, threads := range []int{1, 2, 7, 64} {
		if got := tt.OtherWork(threads, plan); got != want {
			t.Errorf("%d threads: %g, want %g", threads, got, want)
		}
	}
}
