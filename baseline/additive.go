package baseline

import (
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// strengths multiply the pseudo-counts that the method of moments gives.
var strengths = []float64{0.3, 1, 3}

// Backfitting passes before the pseudo-counts are estimated, and after.
const (
	firstPasses = 3
	morePasses  = 6
)

// effects predicts the sum of a mean and one effect per mode.
type effects struct {
	mean   float64
	least  float64 // no prediction is below: 0 for targets that are not negative, else -Inf
	modes  []*coding
	values [][]float64 // by mode and id
}

func (e *effects) predict(part Part, from int, dst []float64) {
	constant(e.mean).predict(part, from, dst)
	for m, values := range e.values {
		for i, c := range e.modes[m].parts[part][from : from+len(dst)] {
			if c >= 0 {
				dst[i] += values[c]
			}
		}
	}
	for i := range dst {
		dst[i] = max(dst[i], e.least)
	}
}

// additive returns the sum of effects of all modes, each shrunk to 0. The pseudo-count
// of a mode is the ratio of the variances of the residuals and of its effects, times a
// strength that is chosen. Several processes fit the effects of some strengths each, and finish
// gives them to all.
func (f *fitter) additive() (finish func() []Formula) {
	const key = "effects"
	if len(f.used) < 2 || !f.wanted(key) {
		return func() []Formula { return nil }
	}
	start := &backfit{f: f, effects: effects{mean: f.mean, least: math.Inf(-1)}}
	if !f.negative {
		start.least = 0
	}
	for _, m := range f.used {
		start.modes = append(start.modes, f.modes[m])
		start.values = append(start.values, make([]float64, f.Sizes[m]))
		start.counts = append(start.counts, 1)
	}
	if f.Peers == nil || f.Peers.Rank() < len(strengths) {
		start.begin()
	}
	tried := make([]*backfit, len(strengths))
	parallel.For(f.Threads, len(tried), func(s int) {
		b := start.clone(strengths[s])
		if f.own(s) {
			for range morePasses {
				b.pass()
			}
		}
		b.residuals = nil
		tried[s] = b
	})
	return func() []Formula {
		if f.Peers != nil {
			for s, b := range tried {
				for _, values := range append(slices.Clone(b.values), b.counts) {
					peers.From(f.Peers, values, s%f.Peers.Size())
				}
			}
		}
		return f.chooseStrength(key, tried)
	}
}

// chooseStrength returns the best of sums of effects.
func (f *fitter) chooseStrength(key string, tried []*backfit) []Formula {
	d, ok := f.pick(key, len(tried), func(from int, dst [][]float64) {
		for s, b := range tried {
			b.predict(Valid, from, dst[s])
		}
	})
	if !ok {
		return nil
	}
	setting := "pseudo-counts"
	for m, k := range tried[d.option].counts {
		setting += fmt.Sprintf(" %s %.3g,", f.Names[f.used[m]], k)
	}
	return []Formula{{Name: "sum of effects of " + f.list(f.used), Setting: setting[:len(setting)-1], Loss: d.loss,
		key: key, option: d.option, modes: f.used, predictor: &tried[d.option].effects}}
}

// backfit is the state of effects that are fitted one mode after the other.
type backfit struct {
	f *fitter
	effects
	groups    []*grouping // of the training rows by mode
	residuals []float32
	counts    []float64 // pseudo-count of each mode
}

// begin fits effects that are not shrunk much, and estimates the pseudo-counts.
func (b *backfit) begin() {
	targets := b.f.Parts[Train].Y
	b.residuals = make([]float32, len(targets))
	for i, y := range targets {
		b.residuals[i] = float32(float64(y) - b.mean)
	}
	for _, c := range b.modes {
		b.groups = append(b.groups, newGrouping(c))
	}
	for range firstPasses {
		b.pass()
	}
	b.estimateCounts()
}

// clone returns a copy with other pseudo-counts.
func (b *backfit) clone(strength float64) *backfit {
	c := &backfit{f: b.f, groups: b.groups, effects: effects{mean: b.mean, least: b.least, modes: b.modes}, residuals: slices.Clone(b.residuals)}
	for m, k := range b.counts {
		c.values = append(c.values, slices.Clone(b.values[m]))
		c.counts = append(c.counts, k*strength)
	}
	return c
}

// pass fits the effects of every mode once.
func (b *backfit) pass() {
	for m, groups := range b.groups {
		groups.each(b.f.Threads, func(g int, rows []int32) {
			t, old := b.residualSum(rows), b.values[m][g]
			if !(t.weight > 0) {
				return
			}
			b.values[m][g] = (t.value + t.weight*old) / (t.weight + b.counts[m])
			change := float32(b.values[m][g] - old)
			for _, i := range rows {
				b.residuals[i] -= change
			}
		})
	}
}

// residualSum returns the weighted sum of the residuals of rows.
func (b *backfit) residualSum(rows []int32) (sum total) {
	w := b.f.Parts[Train].W
	if w == nil {
		for _, i := range rows {
			sum.value += float64(b.residuals[i])
		}
		return total{sum.value, float64(len(rows))}
	}
	for _, i := range rows {
		sum.value += float64(w[i]) * float64(b.residuals[i])
		sum.weight += float64(w[i])
	}
	return sum
}

// estimateCounts sets the pseudo-counts by the method of moments: the means of groups
// vary by their effects, and by the residuals divided by the size of the group.
func (b *backfit) estimateCounts() {
	var all, squares float64
	for i, r := range b.residuals {
		w := b.f.weight(i)
		all += w
		squares += w * float64(r) * float64(r)
	}
	noise := squares / all
	for m, c := range b.modes {
		sums := make([]total, c.size)
		b.groups[m].each(b.f.Threads, func(g int, rows []int32) { sums[g] = b.residualSum(rows) })
		var between, groups, sizes float64
		for g, t := range sums {
			if t.weight > 0 {
				mean := t.value/t.weight + b.values[m][g]
				between += t.weight * mean * mean
				groups++
				sizes += t.weight * t.weight
			}
		}
		b.counts[m] = all // no effect, if nothing shows one
		if variance := (between - groups*noise) / (all - sizes/all); variance > 0 && noise < variance*all {
			b.counts[m] = noise / variance
		}
	}
}
