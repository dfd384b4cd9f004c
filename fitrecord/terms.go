package fitrecord

import (
	"slices"
)

// A TermContribution describes what became of a term of the specification, or of one of
// its trains: a term with latent scaling has three.
type TermContribution struct {
	Term  string `json:"term"`            // the cores, as in "store,item,time"
	Ranks []int  `json:"ranks,omitempty"` // between the cores
	// Offered are the ranks before pruning, if it changed them.
	Offered []int `json:"offered,omitempty"`
	Removed bool  `json:"removed,omitempty"` // pruned altogether
	// Share is the term's share in the variance of the field on the modelling scale:
	// cov(term, field) / var(field) over the validation rows, or the training rows
	// without any.
	Share float64 `json:"share"`
}

func (c TermContribution) clone() TermContribution {
	c.Ranks, c.Offered = slices.Clone(c.Ranks), slices.Clone(c.Offered)
	return c
}

// KeptTerms returns terms without those that the fit removed. Ranks stay as offered: a
// train that starts with the ranks that are left may end in a worse optimum.
func (r Record) KeptTerms(offered []string) []string {
	if len(r.Terms) != len(offered) {
		return offered
	}
	var kept []string
	for i, term := range offered {
		if !r.Terms[i].Removed {
			kept = append(kept, term)
		}
	}
	if len(kept) == 0 {
		return offered
	}
	return kept
}
