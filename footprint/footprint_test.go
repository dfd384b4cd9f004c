package footprint_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/backend/observed"
	"github.com/kernel-fried-tensor/kft/footprint"
	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// field returns a train of three cores and an effect, and the codes of n rows.
func field(t *testing.T, n int, family tt.Family) (*tt.Field, [][]int32) {
	t.Helper()
	sizes := []int{60, 100, 12}
	rng := rand.New(rand.NewPCG(1, 2))
	codes := make([][]int32, len(sizes))
	for m, size := range sizes {
		codes[m] = make([]int32, n)
		for i := range codes[m] {
			codes[m][i] = rng.Int32N(int32(size))
		}
	}
	index := make([]*entity.Index, len(sizes))
	for m := range sizes {
		var err error
		if index[m], err = entity.NewIndex([]int{m}, sizes, codes); err != nil {
			t.Fatal(err)
		}
	}
	f := &tt.Field{Terms: []*tt.Train{
		tt.NewTrain([][]string{{"store"}, {"item"}, {"time"}}, index, []int{4, 4}),
		tt.NewTrain([][]string{{"item"}}, index[1:2], nil),
	}}
	if err := f.SetFamily(family); err != nil {
		t.Fatal(err)
	}
	return f, codes
}

func planBytes(plans ...*backend.Plan) (bytes int) {
	seen := map[*backend.Plan]bool{nil: true}
	for _, p := range plans {
		if seen[p] {
			continue
		}
		seen[p] = true
		bytes += 4*(len(p.Start)+len(p.LeafEntity)+len(p.Source)) + len(p.Changed)
		for _, e := range p.Entity {
			bytes += 4 * len(e)
		}
	}
	return bytes
}

// The estimate for training covers the arrays that belong to the rows, and not much more.
func TestTrainingCoversArrays(t *testing.T) {
	t.Parallel()
	b := cpu.New(cpu.Paths()[0], 1)
	for family, point := range map[tt.Family]bool{tt.Point: true, tt.MeanField: false} {
		const few, many = 50_000, 250_000
		measure := func(n int) (estimate, took float64) {
			f, codes := field(t, n, family)
			need := footprint.Fit{Field: f, Train: n, Threads: 1, Point: point}
			y := make([]float32, n)
			d := observed.New(b, y, nil, nil)
			bytes := 4*2*n + 4*n // target, its copy in plan order, and y
			for k, train := range f.Terms {
				term := observed.NewTerm(b, train.Slices(), train.Lookup(codes), observed.Options{SecondMoments: !point, Equations: point})
				d.Terms = append(d.Terms, term)
				d.Refresh(k, train.Slices(), !point)
				bytes += 4*n + planBytes( // values, or the entities of an effect
					term.First, term.Last, term.Cheapest)
			}
			return float64(need.Training()), float64(bytes)
		}
		e1, t1 := measure(few)
		e2, t2 := measure(many)
		// The difference does not contain what does not depend on the rows. Cells by leaf
		// entity and scratch memory of solvers are not among the arrays of this test.
		estimate, took := (e2-e1)/(many-few), (t2-t1)/(many-few)
		if !(estimate >= took) || estimate > 1.6*took {
			t.Errorf("%s: got an estimate of %.1f bytes per row for arrays of %.1f bytes", family, estimate, took)
		}
	}
}

func TestEvaluationGrowsWithTerms(t *testing.T) {
	t.Parallel()
	f, _ := field(t, 1000, tt.MeanField)
	both := footprint.Fit{Field: f, Train: 1000}.Evaluation()
	f.Terms = f.Terms[:1]
	one := footprint.Fit{Field: f, Train: 1000}.Evaluation()
	if d := float64(both - one); math.Abs(d-8*1000) > 1 {
		t.Errorf("got %g bytes for the moments of a term at 1000 rows, want 8000", d)
	}
}

// Arrays of a small table are no pages, and gradients never are.
func TestRowsAreThoseInPages(t *testing.T) {
	t.Parallel()
	f, _ := field(t, 1000, tt.MeanField)
	few, many := footprint.Fit{Field: f, Train: paged.Smallest/4 - 1}, footprint.Fit{Field: f, Train: paged.Smallest / 4}
	sums := few.Rows() // of shards
	if got := many.Rows() - sums; got < 8*paged.Smallest || few.Training()-sums < got*9/10 {
		t.Errorf("got %d bytes for the rows of a table of just enough rows, and %d in memory for one row less", got, few.Training()-sums)
	}
	if got, want := few.Gradients(), int64(4*61*4*(1+4)); got != want { // of the stores and the slice of others
		t.Errorf("got %d bytes for gradients, want %d", got, want)
	}
}

// The shards of a pair sum nothing if its ids are many.
func TestPairsByOrder(t *testing.T) {
	t.Parallel()
	rows := func(items int) int64 {
		index := make([]*entity.Index, 2)
		sizes := []int{items, items}
		codes := [][]int32{make([]int32, items), make([]int32, items)}
		for i := range items {
			codes[0][i], codes[1][i] = int32(i), int32(i)
		}
		for m := range index {
			var err error
			if index[m], err = entity.NewIndex([]int{m}, sizes, codes); err != nil {
				t.Fatal(err)
			}
		}
		f := &tt.Field{Terms: []*tt.Train{tt.NewTrain([][]string{{"user"}, {"item"}}, index, []int{8})}}
		if err := f.SetFamily(tt.MeanField); err != nil {
			t.Fatal(err)
		}
		return footprint.Fit{Field: f, Train: 100_000}.Rows()
	}
	if got := rows(20_000); got != 0 {
		t.Errorf("got %d bytes for the sums of 20,000 ids, want 0", got)
	}
	if got := rows(100); got == 0 {
		t.Error("got no sums of 100 ids")
	}
}
