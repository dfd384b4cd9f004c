package baseline

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
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
func (f *fitter) shrink(m *groupMean, parents []parent) []Formula {
	return f.shrunkBy(m, parents, f.shrinkage(m, parents))
}

// groupMean is a mean by groups of rows.
type groupMean struct {
	key, name string
	modes     []int
	by        *coding
	sums      []total // of the groups; nil if they are not known yet
}

// shrinkage chooses the parent and the pseudo-count of a mean.
func (f *fitter) shrinkage(m *groupMean, parents []parent) (chosen choice) {
	m.sums = f.sum(m.by)
	d, ok := f.pick(m.key, len(parents)*len(counts), func(from int, dst [][]float64) {
		groups := m.by.parts[Valid][from : from+len(dst[0])]
		for p := range parents {
			options := dst[p*len(counts) : (p+1)*len(counts)]
			base := options[len(counts)-1] // is overwritten last
			parents[p].predict(Valid, from, base)
			for i, g := range groups {
				mean, t := base[i], total{}
				if g >= 0 {
					t = m.sums[g]
				}
				for o, k := range counts {
					options[o][i] = (t.value + k*mean) / (t.weight + k)
				}
			}
		}
	})
	return choice{ok, d.option, d.loss}
}

// shrunkBy returns a mean with the parent and the pseudo-count that were chosen, if any.
func (f *fitter) shrunkBy(m *groupMean, parents []parent, d choice) []Formula {
	if !d.OK {
		return nil
	}
	if m.sums == nil {
		m.sums = f.sum(m.by)
	}
	to, count := parents[d.Option/len(counts)], counts[d.Option%len(counts)]
	return []Formula{{Name: m.name, Setting: fmt.Sprintf("shrunk to %s, pseudo-count %g", to.text, count), Loss: d.Loss,
		key: m.key, option: d.Option, modes: m.modes, predictor: &shrunk{m.by, m.sums, to.predictor, count}}}
}

// modeMeans returns the means by one mode.
func (f *fitter) modeMeans() []Formula {
	overall := []parent{{"the mean of all rows", constant(f.mean)}}
	f.means = f.forEach(len(f.used), func(i int) []Formula {
		m := f.used[i]
		return f.shrink(&groupMean{key: f.key("mean", m), name: "mean by " + f.Names[m], modes: []int{m}, by: f.modes[m]}, overall)
	})
	f.rank()
	return f.means
}

// rank sorts the means.
func (f *fitter) rank() {
	slices.SortStableFunc(f.means, func(a, b Formula) int { return cmp.Compare(a.Loss, b.Loss) })
}

// pairMeans returns the means by two modes. Each is shrunk to the mean by one of them. Several processes
// fit some of the means each, and finish gives them to all.
func (f *fitter) pairMeans() (finish func() []Formula) {
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
	means, parents, chosen := make([]groupMean, len(pairs)), make([][]parent, len(pairs)), make([]choice, len(pairs))
	process := func(i int) int { return len(strengths) + i } // others than those that fit effects, if there are enough
	parallel.For(f.Threads, len(pairs), func(i int) {
		m, pair := &means[i], pairs[i][:]
		*m = groupMean{key: f.key("mean", pair...), name: "mean by " + f.list(pair), modes: pair}
		for _, mode := range pair {
			parents[i] = append(parents[i], parent{"the " + byMode[mode].Name, byMode[mode].predictor})
		}
		if !f.wanted(m.key) || !f.own(process(i)) {
			return
		}
		by := combine(f.Threads, f.modes[pair[0]], f.modes[pair[1]])
		if f.decided == nil && !slices.ContainsFunc(by.parts[Valid], func(g int32) bool { return g >= 0 }) {
			return // every pair is new, as if each occurred once: its mean is that of a mode
		}
		m.by = by
		chosen[i] = f.shrinkage(m, parents[i])
	})
	return func() []Formula {
		var found []Formula
		for i := range means {
			if f.Peers != nil && f.wanted(means[i].key) {
				from := process(i) % f.Peers.Size()
				peers.From(f.Peers, chosen[i:i+1], from)
				means[i].by = f.codingFrom(from, means[i].by)
			}
			if means[i].by != nil {
				f.pairs[pairs[i]] = means[i].by
			}
			found = append(found, f.shrunkBy(&means[i], parents[i], chosen[i])...)
		}
		f.means = append(slices.Clone(f.means), found...)
		f.rank()
		return found
	}
}

// codingFrom returns the coding that one of several processes has, on all of them; nil if it has none.
func (f *fitter) codingFrom(process int, c *coding) *coding {
	size := []int64{-1}
	if c != nil {
		size[0] = int64(c.size)
	}
	peers.From(f.Peers, size, process)
	if size[0] < 0 {
		return nil
	}
	if c == nil {
		c = &coding{size: int(size[0])}
		for p := range c.parts {
			c.parts[p] = make([]int32, len(f.modes[0].parts[p]))
		}
	}
	for _, groups := range c.parts {
		peers.From(f.Peers, groups, process)
	}
	return c
}
