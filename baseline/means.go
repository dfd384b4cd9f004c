package baseline

import (
	"cmp"
	"fmt"
	"slices"
)

// constant predicts one value.
type constant float64

func (c constant) predict(_ Part, _ int, dst []float64) {
	for i := range dst {
		dst[i] = float64(c)
	}
}

// shrunk predicts the mean of a group, shrunk to the prediction of its parent.
type shrunk struct {
	by     *coding
	sums   []total
	parent predictor
	count  float64 // pseudo-count
}

func (s *shrunk) predict(part Part, from int, dst []float64) {
	s.parent.predict(part, from, dst)
	s.adjust(part, from, dst)
}

// adjust replaces the predictions of the parent.
func (s *shrunk) adjust(part Part, from int, dst []float64) {
	for i, g := range s.by.parts[part][from : from+len(dst)] {
		if g >= 0 && s.sums[g].weight > 0 {
			dst[i] = (s.sums[g].value + s.count*dst[i]) / (s.sums[g].weight + s.count)
		}
	}
}

// global returns the mean of all training rows.
func (f *fitter) global() []Formula {
	var sum total
	squares := 0.0
	for i, y := range f.Parts[Train].Y {
		w := f.weight(i)
		sum.value += w * float64(y)
		sum.weight += w
		squares += w * float64(y) * float64(y)
		f.negative = f.negative || y < 0
	}
	f.mean = sum.value / sum.weight
	f.tiny = 1e-12 * squares / sum.weight
	d, _ := f.pick("mean", 1, func(from int, dst [][]float64) { constant(f.mean).predict(Valid, from, dst[0]) })
	return []Formula{{Name: "mean of all rows", Loss: d.loss, key: "mean", predictor: constant(f.mean)}}
}

// parent is a mean that another may be shrunk to.
type parent struct {
	text string // as in "the mean by item"
	predictor
}

// shrink finds the parent and the pseudo-count of a mean.
func (f *fitter) shrink(key, name string, modes []int, by *coding, parents []parent) []Formula {
	sums := f.sum(by)
	d, ok := f.pick(key, len(parents)*len(counts), func(from int, dst [][]float64) {
		groups := by.parts[Valid][from : from+len(dst[0])]
		for p := range parents {
			options := dst[p*len(counts) : (p+1)*len(counts)]
			base := options[len(counts)-1] // is overwritten last
			parents[p].predict(Valid, from, base)
			for i, g := range groups {
				mean, t := base[i], total{}
				if g >= 0 {
					t = sums[g]
				}
				for o, k := range counts {
					options[o][i] = (t.value + k*mean) / (t.weight + k)
				}
			}
		}
	})
	if !ok {
		return nil
	}
	to, count := parents[d.option/len(counts)], counts[d.option%len(counts)]
	return []Formula{{Name: name, Setting: fmt.Sprintf("shrunk to %s, pseudo-count %g", to.text, count), Loss: d.loss,
		key: key, option: d.option, modes: modes, predictor: &shrunk{by, sums, to.predictor, count}}}
}

// modeMeans returns the means by one mode.
func (f *fitter) modeMeans() []Formula {
	overall := []parent{{"the mean of all rows", constant(f.mean)}}
	f.means = f.forEach(len(f.used), func(i int) []Formula {
		m := f.used[i]
		return f.shrink(f.key("mean", m), "mean by "+f.Names[m], []int{m}, f.modes[m], overall)
	})
	f.rank()
	return f.means
}

// rank sorts the means.
func (f *fitter) rank() {
	slices.SortStableFunc(f.means, func(a, b Formula) int { return cmp.Compare(a.Loss, b.Loss) })
}

// pairMeans returns the means by two modes. Each is shrunk to the mean by one of them.
func (f *fitter) pairMeans() []Formula {
	best := f.means[:min(len(f.means), maxPairModes)]
	var pairs [][2]int
	byMode := map[int]*Formula{}
	for i := range best {
		byMode[best[i].modes[0]] = &best[i]
		for _, other := range best[:i] {
			a, b := best[i].modes[0], other.modes[0]
			pairs = append(pairs, [2]int{min(a, b), max(a, b)})
		}
	}
	codings := make([]*coding, len(pairs))
	found := f.forEach(len(pairs), func(i int) []Formula {
		pair := pairs[i]
		key := f.key("mean", pair[:]...)
		if !f.wanted(key) {
			return nil
		}
		by := combine(f.Threads, f.modes[pair[0]], f.modes[pair[1]])
		if f.decided == nil && !slices.ContainsFunc(by.parts[Valid], func(g int32) bool { return g >= 0 }) {
			return nil // every pair is new, as if each occurred once: its mean is that of a mode
		}
		codings[i] = by
		var parents []parent
		for _, m := range pair {
			parents = append(parents, parent{"the " + byMode[m].Name, byMode[m].predictor})
		}
		return f.shrink(key, "mean by "+f.list(pair[:]), pair[:], by, parents)
	})
	for i, pair := range pairs {
		if codings[i] != nil {
			f.pairs[pair] = codings[i]
		}
	}
	f.means = append(slices.Clone(f.means), found...)
	f.rank()
	return found
}
