package backend_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
)

// TestPlanKeepsObservations checks that a plan is a permutation of the
// observations that keeps their entities, that nodes are distinct and that no
// two shards share an entity of the owner.
func TestPlanKeepsObservations(t *testing.T) {
	t.Parallel()
	for _, c := range backendtest.Cases() {
		p := c.Make(11)
		for _, leaf := range []backend.LeafEnd{backend.LeafFirst, backend.LeafLast} {
			plan := backend.NewPlan(p.Shapes, p.Index, leaf)
			seen := make([]bool, c.Cells)
			type node [4]int32
			nodes := map[node]bool{}
			for j := range plan.Nodes() {
				var key node
				for level, core := range plan.Chain {
					key[level] = plan.Entity[level][j]
					for cell := plan.Start[j]; cell < plan.Start[j+1]; cell++ {
						if p.Index[core][plan.Source[cell]] != key[level] {
							t.Fatalf("%s: cell %d belongs to the wrong node", c.Name, cell)
						}
					}
				}
				if len(plan.Chain) > 0 && nodes[key] {
					t.Fatalf("%s: node %v appears twice", c.Name, key)
				}
				nodes[key] = true
				for cell := plan.Start[j]; cell < plan.Start[j+1]; cell++ {
					if p.Index[plan.Leaf][plan.Source[cell]] != plan.LeafEntity[cell] || seen[plan.Source[cell]] {
						t.Fatalf("%s: cell %d has a wrong leaf entity or appears twice", c.Name, cell)
					}
					seen[plan.Source[cell]] = true
				}
			}
			if slices.Contains(seen, false) {
				t.Fatalf("%s: a cell is missing", c.Name)
			}
			owners := map[int32]int{}
			for s := range len(plan.Shards) - 1 {
				for j := plan.Shards[s]; j < plan.Shards[s+1] && plan.Owner >= 0; j++ {
					e := plan.Entity[plan.Owner][j]
					if old, ok := owners[e]; ok && old != s {
						t.Fatalf("%s: shards %d and %d share an entity of the owner", c.Name, old, s)
					}
					owners[e] = s
				}
			}
		}
	}
}

func TestPlanSharesWork(t *testing.T) {
	t.Parallel()
	// With the first core as leaf there are at most 60 x 24 nodes, regardless
	// of the number of cells.
	c := backendtest.Case{Name: "dense", Sizes: []int{40, 60, 24}, Ranks: []int{8, 8}, Cells: 200000}
	p := c.Make(1)
	plan := backend.NewPlan(p.Shapes, p.Index, backend.LeafFirst)
	if plan.Nodes() > 60*24 {
		t.Errorf("got %d nodes, want at most %d, the number of combinations", plan.Nodes(), 60*24)
	}
	if got, naive := plan.Work(), 3.0*64*200000; got > naive/3 {
		t.Errorf("work is %g, want at most a third of %g, the work without sharing", got, naive)
	}
	if len(plan.Shards)-1 < 8 {
		t.Errorf("got %d shards, want at least 8", len(plan.Shards)-1)
	}
}

// Plans do not depend on the number of threads.
func TestPlansOfThreads(t *testing.T) {
	t.Parallel()
	for _, c := range []backendtest.Case{
		{Name: "effect", Sizes: []int{50}, Cells: 70_000},
		{Name: "one entity", Sizes: []int{1}, Cells: 70_000},
		{Name: "matrix", Sizes: []int{300, 24}, Ranks: []int{2}, Cells: 70_000},
		{Name: "many entities", Sizes: []int{3_000_000, 3}, Ranks: []int{1}, Cells: 70_000},
		{Name: "three", Sizes: []int{40, 600, 24}, Ranks: []int{5, 6}, Cells: 130_000},
	} {
		p := c.Make(11)
		for _, leaf := range []backend.LeafEnd{backend.LeafFirst, backend.LeafLast} {
			want := backend.NewPlan(p.Shapes, p.Index, leaf)
			for _, threads := range []int{2, 7, 64} {
				if got := backend.NewPlanOn(nil, threads, p.Shapes, p.Index, leaf); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: the plan of %d threads differs", c.Name, threads)
				}
			}
		}
	}
}

// Leaf orders do not depend on the number of threads.
func TestByLeafOnThreads(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 1))
	shapes := []backend.Shape{{N: 40, Left: 1, Right: 2}, {N: 7, Left: 2, Right: 1}}
	index := [][]int32{make([]int32, 100_000), make([]int32, 100_000)}
	for c := range index[0] {
		index[0][c], index[1][c] = random.Int32N(40), random.Int32N(7)
	}
	want := backend.NewPlan(shapes, index, backend.LeafFirst).ByLeaf(1)
	for _, threads := range []int{2, 3, 16} {
		if got := backend.NewPlan(shapes, index, backend.LeafFirst).ByLeaf(threads); !reflect.DeepEqual(got, want) {
			t.Errorf("the leaf order of %d threads differs", threads)
		}
	}
	for e := range 40 {
		nodes := want.Node[want.Start[e]:want.Start[e+1]]
		if !slices.IsSorted(nodes) {
			t.Errorf("the nodes of entity %d are not sorted", e)
		}
	}
}
