package update

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/history"
	"github.com/kernel-fried-tensor/kft/ledger"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Limits of the curves that move together: their weights, and the training rows per weight that their statistics are
// computed from, about, which leave an error of a tenth.
const (
	mostCurves    = 640
	rowsPerWeight = 100
	curveChunk    = 4096
	curveHashing  = 0x9e3779b97f4a7c15
)

// curves returns the statistics of the curves of a model: of those that all rows move together, and of curves per id.
func curves(b backend.Backend, m *model.Model, rows Observed, noise float64) (together ledger.Curves, perID []ledger.Relation) {
	f := m.Field()
	var single [][2]int
	weights := func(at [2]int) int {
		c := f.Terms[at[0]].Cores[at[1]]
		return c.Map.Columns() * c.Slices.Slice()
	}
	for k, t := range f.Terms {
		for p, c := range t.Cores {
			switch {
			case p != 0 && p != len(t.Cores)-1 || !c.Curve() || !history.Smooth(c.Index.Axes(), m.Modes()):
			case c.Map.Systems() == 1:
				single = append(single, [2]int{k, p})
			case len(t.Cores) == 1 && c.Map.Columns() <= mostCurves:
				perID = append(perID, ledger.Relation{Term: k, Core: p, Values: precisions(c, rows, noise)})
			}
		}
	}
	slices.SortStableFunc(single, func(a, b [2]int) int { return weights(a) - weights(b) })
	q := 0
	for i, at := range single {
		if q+weights(at) > mostCurves {
			single = single[:i]
			break
		}
		q += weights(at)
	}
	if q == 0 {
		return ledger.Curves{}, perID
	}
	slices.SortFunc(single, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	s := &state{fitted: m, engine: b}
	return ledger.Curves{Cores: single, Values: s.coupled(curveBlock(f, single), rows, noise)}, perID
}

// precisions returns the sum of the precisions of the training rows of each entity of a core.
func precisions(c *tt.Core, rows Observed, noise float64) []float32 {
	sums := make([]float64, c.Index.Entities())
	n := len(rows.Y)
	column := make([]int32, min(n, curveChunk))
	for from := 0; from < n; from += len(column) {
		column = column[:min(len(column), n-from)]
		c.Index.LookupFrom(column, rows.Codes, from)
		for i, e := range column {
			w := 1.0
			if rows.Weight != nil {
				w = float64(rows.Weight[from+i])
			}
			sums[e] += w / noise
		}
	}
	out := make([]float32, c.TrainedEntities())
	for e := range out {
		out[e] = float32(sums[e])
	}
	return out
}

// coupled returns the lower triangle of 1/s2 sum_n w_n (z z' + C) over the training rows, or over a random
// share of them if they are many.
func (s *state) coupled(b *block, rows Observed, noise float64) []float32 {
	n, q := len(rows.Y), b.r
	share := uint64(n / (rowsPerWeight * q))
	var chosen []int32
	all, sum := 0.0, 0.0
	for i := range n {
		w := 1.0
		if rows.Weight != nil {
			w = float64(rows.Weight[i])
		}
		all += w
		if h := uint64(i+1) * curveHashing; share < 2 || (h^h>>29)*curveHashing>>32%share == 0 {
			chosen = append(chosen, int32(i))
			sum += w
		}
	}
	total := make([]float64, q*q)
	for from := 0; from < len(chosen); from += curveChunk {
		part := chosen[from:min(from+curveChunk, len(chosen))]
		codes := make([][]int32, len(rows.Codes))
		for m, column := range rows.Codes {
			codes[m] = make([]int32, len(part))
			for i, row := range part {
				codes[m][i] = column[row]
			}
		}
		designs, _ := s.curveDesign(b, codes, codes)
		gram(s.engine, total, designs, func(i int) float64 {
			if rows.Weight == nil {
				return 1
			}
			return float64(rows.Weight[part[i]])
		})
	}
	factor := all / math.Max(sum, math.SmallestNonzeroFloat32) / noise
	values := make([]float32, 0, q*(q+1)/2)
	for i := range q {
		for j := range i + 1 {
			values = append(values, float32(factor*total[i*q+j]))
		}
	}
	return values
}

// gatherShared adds the rows from first on, whose weights are known, to the slots of curves that all rows move.
func (s *state) gatherShared(designs [][]design, first int) {
	for b, block := range s.blocks {
		if block.shared && len(block.slots) > 0 {
			gram(s.engine, block.slots[0].info, designs[b], func(i int) float64 { return s.weight[first+i] })
			block.slots[0].stale = true
		}
	}
}

// regather computes the slots of curves that all rows move again, after the weights of rows have changed.
func (s *state) regather() {
	for _, block := range s.blocks {
		if !block.shared || len(block.slots) == 0 {
			continue
		}
		own := block.slots[0]
		designs := make([]design, len(own.rows))
		for i, at := range own.rows {
			designs[i].x = at.x
			for _, l := range s.links[at.row] {
				if l.slot == own {
					designs[i].spread = l.spread
				}
			}
		}
		clear(own.info)
		gram(s.engine, own.info, designs, func(i int) float64 { return s.weight[own.rows[i].row] })
		own.stale = true
	}
}

// gram adds sum_n w_n (z z' + C) over designs to dst.
func gram(b backend.Backend, dst []float64, designs []design, weight func(i int) float64) {
	q := len(designs[0].x)
	sum, spreads := make([]float32, q*q), spreadSums{at: map[string]int{}}
	z, scaled := make([]float32, min(len(designs), curveChunk)*q), make([]float32, min(len(designs), curveChunk)*q)
	for from := 0; from < len(designs); from += curveChunk {
		part := designs[from:min(from+curveChunk, len(designs))]
		backend.ParallelFor(b, len(part), func(i int) {
			w := weight(from + i)
			for k, v := range part[i].x {
				z[i*q+k], scaled[i*q+k] = float32(v), float32(w*v)
			}
		})
		b.Gemm(true, false, q, q, len(part), 1, z, q, scaled, q, 0, sum, q)
		for k, v := range sum {
			dst[k] += float64(v)
		}
		for i, d := range part {
			for _, c := range d.spread {
				spreads.add(c, weight(from+i))
			}
		}
	}
	for _, c := range spreads.all {
		c.addTo(dst, q, 1)
	}
}

// spreadSums are sums of the covariances of designs, by part and combination.
type spreadSums struct {
	at  map[string]int
	all []spread
}

func (s *spreadSums) add(c spread, w float64) {
	key := keyOf(append([]int32{int32(c.at)}, c.combo...))
	i, known := s.at[key]
	if !known {
		i = len(s.all)
		s.at[key] = i
		s.all = append(s.all, spread{c.part, c.combo, c.a, make([]float64, len(c.c))})
	}
	for k, v := range c.c {
		s.all[i].c[k] += w * v
	}
}
