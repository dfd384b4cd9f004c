package backend_test

import (
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
)

// A plan is a permutation of the observations that keeps their entities, with
// distinct nodes whose owners no two shards share.
func TestPlanKeepsObservations(t *testing.T) {
	for _, c := range backendtest.Cases() {
		p := c.Make(11)
		for _, leaf := range []backend.End{backend.First, backend.Last} {
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
							t.Fatalf("%s: cell %d is under a wrong node", c.Name, cell)
						}
					}
				}
				if len(plan.Chain) > 0 && nodes[key] {
					t.Fatalf("%s: node %v appears twice", c.Name, key)
				}
				nodes[key] = true
				for cell := plan.Start[j]; cell < plan.Start[j+1]; cell++ {
					if p.Index[plan.Leaf][plan.Source[cell]] != plan.LeafEntity[cell] || seen[plan.Source[cell]] {
						t.Fatalf("%s: cell %d is wrong", c.Name, cell)
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
						t.Fatalf("%s: shards %d and %d share an owner", c.Name, old, s)
					}
					owners[e] = s
				}
			}
		}
	}
}

func TestPlanSharesWork(t *testing.T) {
	// 60 x 24 nodes for the first core as leaf, however many cells there are.
	c := backendtest.Case{Name: "dense", Sizes: []int{40, 60, 24}, Ranks: []int{8, 8}, Cells: 200000}
	p := c.Make(1)
	plan := backend.NewPlan(p.Shapes, p.Index, backend.First)
	if plan.Nodes() > 60*24 {
		t.Errorf("%d nodes, at most %d combinations", plan.Nodes(), 60*24)
	}
	if got, naive := plan.Work(), 3.0*64*200000; got > naive/3 {
		t.Errorf("work %g, cell by cell it is %g", got, naive)
	}
	if len(plan.Shards)-1 < 8 {
		t.Errorf("%d shards", len(plan.Shards)-1)
	}
}
