package heaping

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/predictive/noisemodel"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// Rows are training rows.
type Rows struct {
	Codes  [][]int32
	Len    int
	Target func(row int) float64
	// Pages is where arrays of the length of the rows are; nil for memory.
	Pages *paged.Store
	// Distributions returns the smooth distributions of rows for one goroutine; a
	// distribution is valid until the next call.
	Distributions func() func(row int) *predictive.Distribution
	// Group are processes that have the same rows and share the work of the factor of all; nil for one.
	Group peers.Group
}

// A Factor names the entities of a level to learn.
type Factor struct {
	Modes    []int
	Index    noisemodel.EntityIndex
	Entities int // number of entities
	Pair     bool
}

const (
	mostRows    = 500_000 // that expected counts are computed from
	commonRows  = 100_000 // the same for the factor of all rows
	sampledRows = 10_000  // that a strength is chosen on
	leastGain   = 0.002   // of a level in mean log probability
	pieceRows   = 2048    // of an entity that one goroutine counts
	gainRows    = 512     // whose gain one goroutine computes
	learnBlocks = 512     // of entities with about equally many rows, whose entries one goroutine computes
	smallStep   = 2       // of the logarithm of a factor, in steps, that is not stored
)

// strengths are the candidates for c.
var strengths = [...]float64{0.25, 0.5, 1, 2, 4, 8, 16, 32, 64}

// Learn returns the table that rows give, with those of the factors that gain something, in
// their order after the one of all rows; nil if not even that gains.
func Learn(threads int, t targetscale.Transform, rows Rows, candidates []Factor) *Table {
	table := &Table{cells: predictive.NewCells(t, Values), border: 0.5}
	for _, f := range append([]Factor{{Entities: 1}}, candidates...) {
		l := learner{threads: threads, table: table, rows: rows, factor: f}
		if level, gains := l.learn(); gains {
			level.spread()
			table.levels = append(table.levels, level)
		} else if len(table.levels) == 0 {
			return nil
		}
	}
	return table
}

// A learner learns one level.
type learner struct {
	threads int
	table   *Table // with the levels so far
	rows    Rows
	factor  Factor

	start []int32 // rows of entity e are order[start[e]:start[e+1]]
	order []int32
}

// cell returns the cell of a target, false if it has none.
func cell(y float64) (int, bool) {
	return int(y), y >= 0 && y < Values && y == math.Trunc(y)
}

// entity returns the entity of a row, -1 if it has none.
func (l *learner) entity(row int) int32 {
	if l.factor.Index == nil {
		return 0
	}
	if e := l.factor.Index.Entity(l.rows.Codes, row); int(e) < l.factor.Entities {
		return e
	}
	return -1
}

// sort lists the rows of each entity: all for counts, else every stride-th.
func (l *learner) sort() {
	stride := 1
	if !l.factor.Pair {
		most := mostRows
		if l.factor.Index == nil {
			most = commonRows
		}
		stride = (l.rows.Len + most - 1) / most
	}
	l.start = make([]int32, l.factor.Entities+1)
	entities := paged.Make[int32](l.rows.Pages, (l.rows.Len+stride-1)/stride)
	defer paged.Free(l.rows.Pages, entities)
	parallel.Blocks(l.threads, len(entities), func(from, to int) {
		for i := from; i < to; i++ {
			entities[i] = l.entity(i * stride)
		}
	})
	// On one thread: threads that each look for the rows of a range of entities took as long, all of them together.
	each := func(visit func(row int, e int32)) {
		for i, e := range entities {
			if e >= 0 {
				visit(i*stride, e)
			}
		}
	}
	each(func(_ int, e int32) { l.start[e+1]++ })
	for e := range l.factor.Entities {
		l.start[e+1] += l.start[e]
	}
	next := slices.Clone(l.start)
	l.order = paged.Make[int32](l.rows.Pages, int(l.start[l.factor.Entities]))
	each(func(row int, e int32) {
		l.order[next[e]] = int32(row)
		next[e]++
	})
}

// learn returns the level, and whether it gains enough.
func (l *learner) learn() (Level, bool) {
	l.sort()
	defer paged.Free(l.rows.Pages, l.order)
	if len(l.order) == 0 {
		return Level{}, false
	}
	best, gain := l.chooseStrength()
	if gain < leastGain {
		return Level{}, false
	}
	level := Level{Modes: l.factor.Modes, Index: l.factor.Index, Pair: l.factor.Pair, Strength: best, Start: []int32{0}}
	// Blocks of about equally many rows.
	var blocks []int
	for e, begin := 0, int32(0); e < l.factor.Entities; e++ {
		if l.start[e+1]-begin >= int32(len(l.order)/learnBlocks+1) || e == l.factor.Entities-1 {
			blocks, begin = append(blocks, e+1), l.start[e+1]
		}
	}
	parts := make([]Level, len(blocks))
	parallel.For(l.threads, len(blocks), func(b int) {
		from := 0
		if b > 0 {
			from = blocks[b-1]
		}
		parts[b] = l.entries(from, blocks[b], best)
	})
	for _, p := range parts {
		base := int32(len(level.Value))
		for _, end := range p.Start {
			level.Start = append(level.Start, base+end)
		}
		level.Value, level.Entry = append(level.Value, p.Value...), append(level.Entry, p.Entry...)
	}
	return level, true
}

// counts are what one entity has observed and expects.
type counts struct{ observed, expected [Values]float64 }

// add adds a row; its distribution may be nil for counts only.
func (c *counts) add(y float64, h *predictive.Heaped) {
	if k, ok := cell(y); ok {
		c.observed[k]++
	}
	if h == nil {
		return
	}
	total := h.Rest()
	for _, w := range h.Weight {
		total += w
	}
	for k, w := range h.Weight {
		c.expected[h.First+k] += w / total
	}
}

// entries returns the entries of the entities from first to last; Start are their ends.
func (l *learner) entries(first, last int, strength float64) (p Level) {
	var smooth func(int) *predictive.Distribution
	if !l.factor.Pair {
		smooth = l.rows.Distributions()
	}
	var h predictive.Heaped
	for e := first; e < last; e++ {
		var c counts
		l.count(e, &c, smooth, &h)
		for k := range Values {
			if l.factor.Pair {
				if c.observed[k] > 0 {
					p.Value, p.Entry = append(p.Value, uint8(k)), append(p.Entry, uint8(min(c.observed[k], 255)))
				}
				continue
			}
			step := math.Round(stepsPerUnit * math.Log((c.observed[k]+strength)/(c.expected[k]+strength)))
			if math.Abs(step) >= smallStep {
				p.Value, p.Entry = append(p.Value, uint8(k)), append(p.Entry, uint8(min(max(step+noStep, 0), 255)))
			}
		}
		p.Start = append(p.Start, int32(len(p.Value)))
	}
	return p
}

// count counts the rows of an entity. Without smooth distributions nothing is expected.
func (l *learner) count(e int, c *counts, smooth func(int) *predictive.Distribution, h *predictive.Heaped) {
	rows := l.order[l.start[e]:l.start[e+1]]
	if smooth == nil || len(rows) <= pieceRows {
		l.countRows(rows, c, smooth, h)
		return
	}
	parts := make([]counts, (len(rows)+pieceRows-1)/pieceRows)
	each(l, parts, func(i int) {
		l.countRows(rows[i*pieceRows:min(len(rows), (i+1)*pieceRows)], &parts[i], l.rows.Distributions(), &predictive.Heaped{})
	})
	for i := range parts {
		for k := range Values {
			c.observed[k] += parts[i].observed[k]
			c.expected[k] += parts[i].expected[k]
		}
	}
}

// each calls work, which sets the values, for each of them. Processes set a run of those of the factor of all rows each.
func each[T any](l *learner, values []T, work func(i int)) {
	if l.rows.Group == nil || l.factor.Index != nil { // several entities are counted at a time
		parallel.For(l.threads, len(values), work)
		return
	}
	bounds, rank := peers.Even(len(values), l.rows.Group.Size()), l.rows.Group.Rank()
	parallel.For(l.threads, bounds[rank+1]-bounds[rank], func(i int) { work(bounds[rank] + i) })
	peers.Values(l.rows.Group, values, bounds, 1)
}

func (l *learner) countRows(rows []int32, c *counts, smooth func(int) *predictive.Distribution, h *predictive.Heaped) {
	for _, row := range rows {
		var cells *predictive.Heaped
		if smooth != nil && l.weigh(int(row), smooth, h) {
			cells = h
		}
		if smooth == nil || cells != nil {
			c.add(l.rows.Target(int(row)), cells)
		}
	}
}

// weigh sets h to the cells of a row with the factors so far.
func (l *learner) weigh(row int, smooth func(int) *predictive.Distribution, h *predictive.Heaped) bool {
	if !h.SetCells(smooth(row), l.table.cells) {
		return false
	}
	l.table.weigh(h, l.rows.Codes, nil, row)
	return true
}

// chooseStrength returns the strength with the highest mean log probability of the rows of
// sampled entities, and its gain over no factor at all.
func (l *learner) chooseStrength() (best, gain float64) {
	// Every stride-th entity, until there are enough rows.
	total := len(l.order)
	stride := max(1, total/sampledRows)
	if l.factor.Entities < 4*stride {
		stride = max(1, l.factor.Entities/64)
	}
	var sample []int
	for e := 0; e < l.factor.Entities; e += stride {
		if l.start[e+1] > l.start[e] {
			sample = append(sample, e)
		}
	}
	type sums struct {
		gain [len(strengths)]float64
		rows int
	}
	add := func(parts []sums) (all sums) {
		for _, p := range parts {
			all.rows += p.rows
			for x, g := range p.gain {
				all.gain[x] += g
			}
		}
		return all
	}
	parts := make([]sums, len(sample))
	parallel.For(l.threads, len(sample), func(i int) {
		var own func(int) *predictive.Distribution
		if !l.factor.Pair {
			own = l.rows.Distributions()
		}
		var c counts
		e := sample[i]
		l.count(e, &c, own, &predictive.Heaped{})
		rows := l.order[l.start[e]:l.start[e+1]]
		skip := max(1, len(rows)*len(sample)/sampledRows)
		pieces := make([]sums, (len(rows)+skip*gainRows-1)/(skip*gainRows))
		each(l, pieces, func(p int) {
			smooth, h, s := l.rows.Distributions(), predictive.Heaped{}, &pieces[p]
			for j := p * gainRows * skip; j < min(len(rows), (p+1)*gainRows*skip); j += skip {
				k, ok := cell(l.rows.Target(int(rows[j])))
				if !ok || !l.weigh(int(rows[j]), smooth, &h) || k < h.First || k >= h.First+len(h.Weight) {
					continue
				}
				s.rows++
				for x, strength := range strengths {
					s.gain[x] += l.gain(&c, &h, k, len(rows)-1, strength)
				}
			}
		})
		parts[i] = add(pieces)
	})
	all := add(parts)
	if all.rows == 0 {
		return 1, 0
	}
	at := 0
	for x, g := range all.gain {
		if g > all.gain[at] {
			at = x
		}
	}
	return strengths[at], all.gain[at] / float64(all.rows)
}

// gain returns the log probability of value k of a row under the level without this row,
// less that without the level.
func (l *learner) gain(c *counts, h *predictive.Heaped, k, others int, strength float64) float64 {
	total := h.Rest()
	for _, w := range h.Weight {
		total += w
	}
	with, own := h.Rest(), 0.0
	for j, w := range h.Weight {
		value := h.First + j
		observed, expected := c.observed[value], float64(others)*w/total
		if value == k {
			observed--
		}
		if !l.factor.Pair {
			expected = c.expected[value] - w/total
		}
		w *= (observed + strength) / (max(expected, 0) + strength)
		with += w
		if value == k {
			own = w
		}
	}
	return math.Log(own/with) - math.Log(h.Weight[k-h.First]/total)
}
