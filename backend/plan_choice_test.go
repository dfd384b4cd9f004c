package backend_test

import (
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
)

// The plan of less work is found, whether or not the other one is built.
func TestCheaperPlan(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(1, 2))
	built := map[int]int{} // by number of plans
	for range 200 {
		n := 1 + draw.IntN(5000)
		shapes := []backend.Shape{{N: 1 + draw.IntN(60), Left: 1, Right: 4}, {N: 1 + draw.IntN(60), Left: 4, Right: 4}, {N: 1 + draw.IntN(60), Left: 4, Right: 1}}
		if draw.IntN(3) == 0 {
			shapes = []backend.Shape{{N: 1 + draw.IntN(99), Left: 1, Right: 3}, {N: 1 + draw.IntN(99), Left: 3, Right: 1}}
		}
		index := make([][]int32, len(shapes))
		for core, s := range shapes {
			for range n {
				index[core] = append(index[core], int32(draw.IntN(s.N)))
			}
		}
		plan := func(leaf backend.LeafEnd) *backend.Plan { return backend.NewPlan(shapes, index, leaf) }
		for _, second := range []bool{false, true} {
			plans := 0
			ends := backend.Ends{Shapes: shapes, Cells: n, SecondMoments: second, Threads: 1,
				Plan:         func(leaf backend.LeafEnd) *backend.Plan { plans++; return plan(leaf) },
				Combinations: func(cores []int) int { return backend.Combinations(2, shapes, index, cores) }}
			got, _ := ends.Cheaper(nil)
			work := (*backend.Plan).Work
			if second {
				work = (*backend.Plan).SecondMomentWork
			}
			want := backend.LeafFirst
			if work(plan(backend.LeafLast)) < work(plan(backend.LeafFirst)) {
				want = backend.LeafLast
			}
			if leaf := int(want) * (len(shapes) - 1); got.Leaf != leaf {
				t.Fatalf("shapes %v, %d cells: got leaf core %d, want %d", shapes, n, got.Leaf, leaf)
			}
			if built[plans]++; plans == 1 {
				plans = 0
				if _, other := ends.Cheaper(func(*backend.Plan) bool { return true }); plans != 2 || other == nil {
					t.Fatalf("got %d plans and %v, want both", plans, other)
				}
			}
		}
	}
	if built[1] == 0 || built[2] == 0 {
		t.Errorf("got numbers of plans %v, want cases with one and with two", built)
	}
}

// Combinations are counted, or not if there may be too many.
func TestCombinations(t *testing.T) {
	t.Parallel()
	shapes := []backend.Shape{{N: 3}, {N: 5}, {N: 1000}}
	index := [][]int32{{0, 2, 2, 0}, {4, 4, 4, 4}, {999, 0, 1, 999}}
	if got := backend.Combinations(1, shapes, index, []int{0, 1}); got != 2 {
		t.Errorf("got %d combinations, want 2", got)
	}
	if got := backend.Combinations(1, shapes, index, []int{0, 2}); got != 0 {
		t.Errorf("got %d combinations, want none counted", got)
	}
}
