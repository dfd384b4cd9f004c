package baseline

import (
	"fmt"
	"slices"
	"sync"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// adjusted predicts the value of another formula, times a factor or plus an offset by
// group.
type adjusted struct {
	base   predictor
	by     *coding
	groups []adjustment
	count  float64 // pseudo-count: rows that need no adjustment
	factor bool
}

// adjustment is the ratio of actual to predicted values of a group, or their mean
// difference, and the weight of the group.
type adjustment struct{ value, weight float64 }

// apply adjusts a prediction.
func (a *adjustment) apply(v, count float64, factor bool) float64 {
	if factor {
		return v * (a.value*a.weight + count) / (a.weight + count)
	}
	return v + a.value*a.weight/(a.weight+count)
}

func (a *adjusted) predict(part Part, from int, dst []float64) {
	a.base.predict(part, from, dst)
	for i, g := range a.by.parts[part][from : from+len(dst)] {
		if g >= 0 {
			dst[i] = a.groups[g].apply(dst[i], a.count, a.factor)
		}
	}
}

// adjustments returns means that are adjusted by other groups, at most limit of them.
// With three modes or more these are the means by pairs, the best first; with two, or if
// no pair has been seen, all.
func (f *fitter) adjustments(limit int) []Formula {
	var found []Formula
	var waiting []adjustTask
	for k := range f.means {
		base := &f.means[k]
		if len(f.used) > 2 && len(f.pairs) > 0 && len(base.modes) < 2 {
			continue
		}
		by := f.adjusters(base.modes)
		// One process predicts for one mean after the other. Of those that wait, some may find nothing.
		if f.Peers == nil || len(found)+len(waiting)+len(by) > limit {
			found, waiting = append(found, f.adjustAll(waiting)...), nil
			by = by[:max(0, min(len(by), limit-len(found)))]
		}
		predicted := sync.OnceValue(func() []float32 { return f.onTrain(base.predictor) })
		for _, modes := range by {
			waiting = append(waiting, adjustTask{base, modes, predicted})
		}
	}
	return append(found, f.adjustAll(waiting)...)
}

// An adjustTask is a mean to adjust by a group.
type adjustTask struct {
	base      *Formula
	by        []int
	predicted func() []float32 // predictions of the mean for the training rows
}

// adjustAll returns adjusted means. Several processes fit some of them each; the others
// have no predictor, see [Formula.Elsewhere].
func (f *fitter) adjustAll(tasks []adjustTask) []Formula {
	fitted, decided := make([]*adjusted, len(tasks)), make([]choice, len(tasks))
	parallel.For(f.Threads, len(tasks), func(i int) {
		if f.own(i) {
			fitted[i], decided[i] = f.adjust(tasks[i])
		}
	})
	if f.Peers != nil {
		for i := range decided {
			peers.From(f.Peers, decided[i:i+1], i%f.Peers.Size())
		}
	}
	var found []Formula
	for i, d := range decided {
		if !d.OK {
			continue
		}
		base, by := tasks[i].base, tasks[i].by
		name := base.Name + ", plus offset by " + f.list(by)
		if !f.negative {
			name = base.Name + ", times factor by " + f.list(by)
		}
		one := Formula{Name: name, Setting: fmt.Sprintf("%s; then pseudo-count %g", base.Setting, counts[d.Option]), Loss: d.Loss,
			key: f.key(base.key+"*", by...), option: d.Option}
		if fitted[i] != nil {
			one.predictor = fitted[i]
		}
		found = append(found, one)
	}
	return found
}

// choice is the setting of a formula that one of several processes chose. It has no pointers.
type choice struct {
	OK     bool
	Option int
	Loss   float64
}

// adjusters returns the groups that may adjust a mean: pairs of one of its modes and
// another, and the others. With two modes, those are the modes that it does not have or,
// if it has both, each of them.
func (f *fitter) adjusters(base []int) [][]int {
	var pairs, single [][]int
	for _, m := range f.means {
		if len(m.modes) > 1 {
			continue
		}
		other := m.modes[0]
		inside := slices.Contains(base, other)
		if !inside || len(f.used) == 2 && len(base) == 2 {
			single = append(single, []int{other})
		}
		if inside || len(base) < 2 {
			continue
		}
		for _, b := range base {
			pair := [2]int{min(b, other), max(b, other)}
			if f.pairs[pair] != nil {
				pairs = append(pairs, pair[:])
			}
		}
	}
	return append(pairs, single...)
}

// adjust finds the pseudo-count of an adjustment.
func (f *fitter) adjust(task adjustTask) (*adjusted, choice) {
	base, by, factor := task.base, task.by, !f.negative
	key := f.key(base.key+"*", by...)
	if !f.wanted(key) {
		return nil, choice{}
	}
	groups := f.modes[by[0]]
	if len(by) == 2 {
		groups = f.pairs[[2]int{by[0], by[1]}]
	}
	sums, predicted := f.sum(groups), task.predicted()
	guesses := make([]float64, groups.size)
	for i, g := range groups.parts[Train] {
		guesses[g] += f.weight(i) * float64(predicted[i])
	}
	a := &adjusted{base: base.predictor, by: groups, groups: make([]adjustment, groups.size), factor: factor}
	for g, t := range sums {
		switch {
		case factor && guesses[g] > 0:
			a.groups[g] = adjustment{t.value / guesses[g], t.weight}
		case !factor && t.weight > 0:
			a.groups[g] = adjustment{(t.value - guesses[g]) / t.weight, t.weight}
		}
	}
	d, ok := f.pick(key, len(counts), func(from int, dst [][]float64) {
		last := dst[len(counts)-1] // is overwritten last
		base.predictor.predict(Valid, from, last)
		for i, g := range groups.parts[Valid][from : from+len(last)] {
			v, change := last[i], adjustment{}
			if g >= 0 {
				change = a.groups[g]
			}
			for o, k := range counts {
				dst[o][i] = change.apply(v, k, factor)
			}
		}
	})
	if !ok {
		return nil, choice{}
	}
	a.count = counts[d.option]
	return a, choice{true, d.option, d.loss}
}
