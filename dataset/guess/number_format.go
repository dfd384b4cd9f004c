package guess

import (
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/guess/numbertext"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
)

// numberFormat returns the format of the table's numbers: the first of those that read
// the most columns which are not plain numbers, and of these columns the most rows. A column that two formats read as
// different numbers decides nothing.
func (g *guesser) numberFormat() dataset.NumberFormat {
	if !g.given.Numbers.Plain() {
		return g.given.Numbers
	}
	votes := map[dataset.NumberFormat]int{}
	reads := map[dataset.NumberFormat]int{} // rows that a format reads
	for _, c := range g.columns {
		var fits []numbertext.Fit
		if fits, c.ambiguous = numbertext.Fits(c.values, c.counts, columnname.IsID(c.Name)); c.ambiguous {
			continue
		}
		for _, fit := range fits {
			votes[fit.Format]++
			reads[fit.Format] += fit.Rows
		}
	}
	best := dataset.NumberFormat{}
	for _, f := range numbertext.Formats { // in order, so that ties do not depend on the map
		if votes[f] > votes[best] || votes[f] == votes[best] && reads[f] > reads[best] {
			best = f
		}
	}
	return best
}
