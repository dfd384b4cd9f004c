package model

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/tt"
)

// Build returns the field a specification describes, for training cells given
// by a column of codes a mode, and notices of ranks that were capped. sizes
// holds the number of ids of each mode. Weights are zero.
func Build(terms []Term, modes []string, sizes []int, codes [][]int32) (*tt.Field, []string, error) {
	var notices []string
	field := &tt.Field{}
	indices := map[string]*tt.Index{} // terms share the indices of equal cores
	for _, term := range terms {
		index := make([]*tt.Index, len(term.Cores))
		counts := make([]int, len(term.Cores))
		for p, core := range term.Cores {
			key := tt.CoreName(core)
			if indices[key] == nil {
				x, err := tt.NewIndex(Positions(core, modes), sizes, codes)
				if err != nil {
					return nil, nil, err
				}
				indices[key] = x
			}
			index[p] = indices[key]
			counts[p] = index[p].Entities() - 1
		}
		capped, n := term.CapRanks(counts)
		notices = append(notices, n...)
		field.Terms = append(field.Terms, tt.NewTrain(term.Cores, index, capped.Ranks))
	}
	return field, notices, nil
}

// Positions returns where the modes of a core stand among all modes.
func Positions(core, modes []string) []int {
	at := make([]int, len(core))
	for i, m := range core {
		at[i] = slices.Index(modes, m)
	}
	return at
}
