package guess

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset/guess/relation"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
)

// Names of columns that say how much of something counts come from: policy years of claims, people of
// deaths. The last word counts, unless two words together are such a name.
var (
	exposureWords   = []string{"exposure", "exposures", "population", "popul", "pop", "inhabitants", "residents"}
	exposurePhrases = []string{"person years", "personyears", "policy years", "vehicle years", "car years", "patient years", "at risk"}
	// rateWords are those of what is computed from a population.
	rateWords = []string{"density", "growth", "log", "ln", "share", "pct", "percent", "rate", "rank", "index"}
)

// namesExposure reports whether a name is that of an exposure.
func namesExposure(name string) bool {
	words := columnname.Words(name)
	if len(words) == 0 || columnname.HasWord(name, rateWords) {
		return false
	}
	text := " " + strings.Join(words, " ") + " "
	return slices.Contains(exposureWords, words[len(words)-1]) || slices.Contains(exposureWords, words[0]) ||
		slices.ContainsFunc(exposurePhrases, func(phrase string) bool { return strings.Contains(text, " "+phrase+" ") })
}

// The exponent of the exposure in the mean of the counts by which a column of that name is one. Short
// insurances have more claims per year than long ones, which makes it smaller than 1.
const (
	leastExponent = 0.5
	mostExponent  = 1.5
)

// mostCount is the mean of the counts up to which they have an exposure. A transform serves larger ones better,
// with the exposure as a covariate: its noise may differ by entity.
const mostCount = 100

// guessExposure takes a column for the exposure if its name says so and the target is a count that grows
// in proportion to it. One that forecasts would need for the future is not taken.
func (g *guesser) guessExposure() {
	d := g.given
	if g.target < 0 || len(d.Modes) > 0 || d.Future || d.Undescribed || d.Uncounted || d.Weight != "" || d.Exposure != "" || d.Censored != "" {
		return
	}
	y, texts := g.columns[g.target].numbersOrNaN()
	if texts > 0 || g.columns[g.target].Max <= 1 || slices.ContainsFunc(y, func(v float64) bool { return v < 0 || v != math.Trunc(v) && !math.IsNaN(v) }) {
		return
	}
	for i, c := range g.columns {
		if i == g.target || !c.numeric || c.Missing > 0 || c.NotNumbers > 0 || c.Min <= 0 || c.Distinct < 2 || slices.Contains(d.Covariates, c.Name) || !namesExposure(c.Name) {
			continue
		}
		if g.targetMean(y) > mostCount || !g.inProportion(c) {
			continue
		}
		g.Exposure, g.given.Exposure = c.Name, c.Name
		g.Notes = append(g.Notes, fmt.Sprintf("column %s counts in proportion to %s, which is the exposure, so predictions are of rates times %s; data.covariates set to none leaves it out; rows to predict must have it too", g.Target, c.Name, c.Name))
		return
	}
}

// inProportion reports whether the target grows about in proportion to a column: in all
// rows or within the ids of another column, because the old are few and die more often.
func (g *guesser) inProportion(c *sampleColumn) bool {
	within := [][]int32{make([]int32, g.Rows)}
	for i, o := range g.columns {
		if i != g.target && o != c && o.Distinct > 1 && g.repeats(o.Distinct) && o.Kind != KindNumber {
			within = append(within, o.codes)
		}
	}
	x, target := c.related(), g.columns[g.target].related()
	level := (math.Log(c.Min) + math.Log(c.Max)) / 2
	return slices.ContainsFunc(within, func(groups []int32) bool {
		b := relation.Exponent(target, x, groups, level)
		return b >= leastExponent && b <= mostExponent
	})
}

// targetMean returns the mean of the target, whose values are y by code.
func (g *guesser) targetMean(y []float64) float64 {
	sum, n := 0.0, 0
	for k, v := range y {
		if count := g.columns[g.target].counts[k]; !math.IsNaN(v) {
			sum, n = sum+v*float64(count), n+count
		}
	}
	return sum / float64(max(n, 1))
}

// describesAsExposure reports whether a column is an exposure by its name and not given as one, so that it may be a covariate.
func (g *guesser) describesAsExposure(c *sampleColumn) bool {
	return g.weighsRows(c) && namesExposure(c.Name) && !g.given.reserves(c.Name) && c.dividesRows() == ""
}

// withRepeats returns the guess, or one without an exposure if the ids of no mode repeat, so that numbers must tell
// rows apart: then the exposure is a better covariate.
func (g *guesser) withRepeats() *guesser {
	if g.Exposure == "" || slices.ContainsFunc(g.modes, func(m sampleMode) bool { return 2*m.distinct <= g.Rows }) {
		return g
	}
	given := g.given
	given.Exposure, given.Uncounted = "", true
	return newGuesser(g.sample, given, g.lenient)
}

// sumExposed lets rows of the same cell be summed, because the mean of counts is none.
func (g *guesser) sumExposed() {
	if g.Exposure == "" || g.Duplicates != "mean" && g.Duplicates != "last" {
		return
	}
	g.Notes = slices.DeleteFunc(g.Notes, func(note string) bool { return strings.Contains(note, "data.duplicates is ") })
	g.noteDuplicates("sum", "counts and their exposures add up")
}
