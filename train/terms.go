package train

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/relevance"
	"github.com/kernel-fried-tensor/kft/solver"
)

// maxShareRows is the number of rows, evenly spaced, from which the shares of the terms
// are computed: more would not change the printed digits.
const maxShareRows = 200_000

// contributions describes the terms that were offered to the solver and what they
// contribute.
func (r *run) contributions(solved solver.Report) []model.TermContribution {
	o := r.part(dataset.Valid)
	if o.Len() == 0 {
		o = r.part(dataset.Train)
	}
	if o.Len() > maxShareRows {
		rows := make([]int, maxShareRows)
		for i := range rows {
			rows[i] = i * o.Len() / maxShareRows
		}
		selected := o.Select(rows)
		o = &selected
	}
	engine, release := r.plannedEngine()
	shares := relevance.Shares(engine, r.field, o.Codes)
	_ = release() // it holds nothing
	var series []model.TermContribution
	for k, s := range r.field.Series {
		series = append(series, model.TermContribution{Term: s.Label, Share: shares[len(shares)-len(r.field.Series)+k]})
	}
	var terms []model.TermContribution
	for _, t := range solved.Terms {
		c := model.TermContribution{Term: t.Name, Ranks: t.Ranks, Removed: t.Removed}
		if t.Removed || !slices.Equal(t.Ranks, t.Offered) {
			c.Offered = t.Offered
		}
		if !t.Removed {
			c.Share, shares = shares[0], shares[1:]
		}
		terms = append(terms, c)
	}
	return r.inOrder(terms, series)
}

// inOrder puts trains and series into the order of the specification. A term of latent
// scaling is several trains; then series follow the trains.
func (r *run) inOrder(trains, series []model.TermContribution) []model.TermContribution {
	terms, err := r.spec.ParseTerms()
	if err != nil || len(trains)+len(series) != len(terms) {
		return append(trains, series...)
	}
	var out []model.TermContribution
	for _, t := range terms {
		from := &trains
		if t.IsSeries() {
			from = &series
		}
		out, *from = append(out, (*from)[0]), (*from)[1:]
	}
	return out
}
