package solver

import "github.com/kernel-fried-tensor/kft/tt"

// blockID locates a block of weights.
type blockID struct{ term, core, block int }

// blockIDs lists the blocks of a field in the order of updates. This is the order of
// the terms, except that an anchored term comes after the next one: it starts at 1
// and scales what the next term has learned.
func blockIDs(f *tt.Field) []blockID {
	order := make([]int, len(f.Terms))
	for k := range order {
		order[k] = k
	}
	for k := range len(order) - 1 {
		if f.Terms[k].Anchored() {
			order[k], order[k+1] = order[k+1], order[k]
		}
	}
	var ids []blockID
	for _, k := range order {
		for p, c := range f.Terms[k].Cores {
			for b := range c.Blocks() {
				ids = append(ids, blockID{k, p, b})
			}
		}
	}
	return ids
}

// blockLabel returns the name of a block for messages, as in
// "weight/store of store,item,time".
func blockLabel(f *tt.Field, b blockID) string {
	t := f.Terms[b.term]
	name := t.Cores[b.core].Blocks()[b.block].Name
	if len(f.Terms) > 1 {
		name += " of " + t.Name()
	}
	return name
}
