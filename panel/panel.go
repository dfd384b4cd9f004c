// Package panel lists the series of a table that has a mode of time. A series is a
// combination of ids of the other modes that has training rows; without other modes the
// table is one series.
package panel

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/timeline"
	"github.com/kernel-fried-tensor/kft/internal/gather"
	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/internal/radix"
)

// A Panel is the list of the series, in the order of their codes. It takes 16 bytes per
// series and 4 more per mode. It is immutable.
type Panel struct {
	Line *timeline.Timeline // of the mode of time; steps count from its earliest id
	Time int                // position of the mode of time
	Keys []int              // positions of the modes that distinguish series

	Codes [][]int32 // by key and series
	First []int32   // by series: step of the first training row
	Last  []int32   // step of the last training row
	Rows  []int32   // number of training rows
	Mean  []float32 // of their targets

	// End is the last step that has training rows.
	End int64

	// Own tells whether each series is forecast from its own last training row on; otherwise all
	// are from End on.
	Own bool

	known []int32 // steps of the ids that the line was made for, by code
}

// minRepeats is the mean number of rows per series below which a table has no panel: its
// rows are events rather than series, and the list would be as long as the table.
const minRepeats = 1.5

// KeyModes returns the modes that distinguish series: all but the time, modes that are
// made of its columns, and covariates.
func KeyModes(modes []dataset.Mode, time int) []int {
	var keys []int
	for m, mode := range modes {
		shared := slices.ContainsFunc(mode.Columns, func(c string) bool { return slices.Contains(modes[time].Columns, c) })
		if m != time && !shared && !mode.Covariate() {
			keys = append(keys, m)
		}
	}
	return keys
}

// Rows are the rows that belong to series.
type Rows struct {
	Codes  [][]int32             // by mode
	Target func(row int) float64 // of a row
	Pages  *paged.Store          // of what is computed per row, and of the panel until [Panel.Keep]; nil for memory
}

// New lists the series of training rows. ids returns the ids of a mode. along is the mode of time,
// -1 for the one that [timeline.ModeOf] finds. Without a mode of time, or if hardly any series has
// two rows, there is none. It costs O(n) and 48 bytes per row for n rows. The processes of a group,
// which may be nil, list some series each, and ask for the rows of their run alone, see [peers.Rows].
func New(group peers.Group, threads int, modes []dataset.Mode, ids func(mode int) []string, along int, table Rows) *Panel {
	p, codes := newPanel(modes, ids, along), table.Codes
	if p == nil || len(codes[0]) == 0 {
		return nil
	}
	sizes := make([]uint64, len(p.Keys))
	all := uint64(1)
	for k, m := range p.Keys {
		sizes[k] = uint64(len(ids(m)))
		var high uint64
		if high, all = bits.Mul64(all, sizes[k]); high > 0 {
			return nil // more combinations than can be numbered
		}
	}
	rows := p.rows(group, threads, sizes, table)
	defer rows.free(table.Pages)
	order, keys, free := radix.OrderIn(table.Pages, threads, rows.key)
	defer free()
	own, counts := countSeries(threads, keys)
	bounds, before := []int{0, own}, 0 // series by process, and before those of this one
	if group != nil {
		bounds = bounds[:1]
		for r, n := range peers.Each(group, int64(own)) {
			if r == group.Rank() {
				before = bounds[r]
			}
			bounds = append(bounds, bounds[r]+int(n))
		}
	}
	total := bounds[len(bounds)-1]
	if total > int(float64(len(codes[0]))/minRepeats) {
		return nil
	}
	starts := paged.Make[int32](table.Pages, own+1)
	defer paged.Free(table.Pages, starts)
	startSeries(threads, keys, counts, starts)
	p.allocate(table.Pages, total)
	parallel.Ranges(threads, own, func(_, from, to int) {
		for n := from; n < to; n++ {
			s := before + n
			first, last, sum := int32(math.MaxInt32), int32(0), 0.0
			own := order[starts[n]:starts[n+1]]
			for _, i := range own {
				first, last = min(first, rows.step[i]), max(last, rows.step[i])
				sum += rows.target[i]
			}
			p.First[s], p.Last[s], p.Rows[s], p.Mean[s] = first, last, int32(len(own)), float32(sum/float64(len(own)))
			key := keys[starts[n]]
			for k := len(p.Keys) - 1; k >= 0; k-- {
				p.Codes[k][s] = int32(key % sizes[k])
				key /= sizes[k]
			}
		}
	})
	if group != nil {
		for _, values := range append(p.Codes, p.First, p.Last, p.Rows) {
			peers.Values(group, values, bounds, 1)
		}
		peers.Values(group, p.Mean, bounds, 1)
	}
	p.End = int64(slices.Max(p.Last))
	return p
}

// countSeries returns the number of different ones of sorted keys, and by block those in the blocks
// before it.
func countSeries(threads int, keys []uint64) (series int, before []int) {
	before = make([]int, (len(keys)+parallel.Block-1)/parallel.Block)
	parallel.Blocks(threads, len(keys), func(from, to int) {
		n := 0
		for i := from; i < to; i++ {
			if i == 0 || keys[i] != keys[i-1] {
				n++
			}
		}
		before[from/parallel.Block] = n
	})
	for b, n := range before {
		before[b] = series
		series += n
	}
	return series, before
}

// startSeries writes where the different ones of sorted keys start, and their number. before is that
// of [countSeries].
func startSeries(threads int, keys []uint64, before []int, starts []int32) {
	parallel.Blocks(threads, len(keys), func(from, to int) {
		at := before[from/parallel.Block]
		for i := from; i < to; i++ {
			if i == 0 || keys[i] != keys[i-1] {
				starts[at] = int32(i)
				at++
			}
		}
	})
	starts[len(starts)-1] = int32(len(keys))
}

// seriesRows are rows of series, in the order of the table.
type seriesRows struct {
	key    []uint64 // number of the series
	step   []int32
	target []float64
}

// rows returns the rows of the series that this process lists: all, or over a group those of a run
// of ids of the first key, so that its series are a run as well.
func (p *Panel) rows(group peers.Group, threads int, sizes []uint64, table Rows) seriesRows {
	codes := table.Codes
	first, end := 0, len(codes[0])
	if group != nil {
		bounds := peers.Rows(end, group.Size())
		first, end = bounds[group.Rank()], bounds[group.Rank()+1]
	}
	pages := table.Pages
	rows := seriesRows{paged.Make[uint64](pages, end-first), paged.Make[int32](pages, end-first), paged.Make[float64](pages, end-first)}
	parallel.Blocks(threads, end-first, func(from, to int) {
		for i := from; i < to; i++ {
			row := first + i
			for k, m := range p.Keys {
				rows.key[i] = rows.key[i]*sizes[k] + uint64(codes[m][row])
			}
			rows.step[i], rows.target[i] = p.known[codes[p.Time][row]], table.Target(row)
		}
	})
	if group == nil {
		return rows
	}
	ids := make([]int32, end-first) // of the first key
	count := make([]int32, 1)
	if len(p.Keys) > 0 {
		ids, count = codes[p.Keys[0]][first:end], make([]int32, sizes[0])
	}
	defer rows.free(pages)
	return rows.send(group, ids, count, len(codes[0]))
}

// free gives back what is in a store.
func (s seriesRows) free(pages *paged.Store) {
	paged.Free(pages, s.key)
	paged.Free(pages, s.step)
	paged.Free(pages, s.target)
}

// send returns the rows of all processes whose ids this one has: runs of ids with about equal
// numbers of rows. count is memory for a number per id, and n the number of all rows.
func (s seriesRows) send(group peers.Group, ids, count []int32, n int) seriesRows {
	size := group.Size()
	for _, id := range ids {
		count[id]++
	}
	process, before := make([]int32, len(count)), 0
	for id, rows := range peers.Sum(group, count) {
		process[id] = int32(before * size / n)
		before += int(rows)
	}
	sent := make([]int, size+1)
	for _, id := range ids {
		sent[process[id]+1]++
	}
	for r := range size {
		sent[r+1] += sent[r]
	}
	order, next := make([]int32, len(ids)), slices.Clone(sent)
	for i, id := range ids {
		at := &next[process[id]]
		order[*at] = int32(i)
		*at++
	}
	taken := peers.Taken(group, sent)
	return seriesRows{passed(group, s.key, order, sent, taken), passed(group, s.step, order, sent, taken), passed(group, s.target, order, sent, taken)}
}

// passed sends values in an order and returns those received.
func passed[T any](group peers.Group, values []T, order []int32, sent, taken []int) []T {
	received := make([]T, taken[len(taken)-1])
	peers.Pass(group, received, gather.Rows(values, order), sent, taken)
	return received
}

// newPanel returns a panel without series, nil without a timeline.
func newPanel(modes []dataset.Mode, ids func(mode int) []string, along int) *Panel {
	time := along
	if time < 0 {
		time = timeline.ModeOf(modes, ids)
	}
	if time < 0 {
		return nil
	}
	line, err := timeline.New(modes[time], ids(time))
	if err != nil {
		return nil
	}
	p := &Panel{Line: line, Time: time, Keys: KeyModes(modes, time)}
	for _, step := range line.Steps() {
		p.known = append(p.known, int32(step))
	}
	return p
}

func (p *Panel) allocate(pages *paged.Store, n int) {
	p.Codes = make([][]int32, len(p.Keys))
	for k := range p.Codes {
		p.Codes[k] = paged.Make[int32](pages, n)
	}
	p.First, p.Last, p.Rows, p.Mean = paged.Make[int32](pages, n), paged.Make[int32](pages, n), paged.Make[int32](pages, n), paged.Make[float32](pages, n)
}

// Keep copies what is in a store to memory, so that the panel may be used after the store is closed.
// It must not be called beside other uses.
func (p *Panel) Keep(pages *paged.Store) {
	for k := range p.Codes {
		p.Codes[k] = kept(pages, p.Codes[k])
	}
	p.First, p.Last, p.Rows, p.Mean = kept(pages, p.First), kept(pages, p.Last), kept(pages, p.Rows), kept(pages, p.Mean)
}

func kept[T paged.Number](pages *paged.Store, array []T) []T {
	if pages == nil {
		return array
	}
	defer paged.Free(pages, array)
	return slices.Clone(array)
}

// Len returns the number of series.
func (p *Panel) Len() int { return len(p.Rows) }

// Steps returns the steps of the ids of the fitted table, by code of the mode of time.
func (p *Panel) Steps() []int32 { return p.known }

// Origin returns the step after which a series is forecast. That of ids without a series, -1, is
// the last one that has training rows.
func (p *Panel) Origin(series int) int64 {
	if p.Own && series >= 0 {
		return int64(p.Last[series])
	}
	return p.End
}

// OriginOf is Origin of the series of a row, given by the codes of its modes.
func (p *Panel) OriginOf(codes [][]int32, row int) int64 {
	if !p.Own {
		return p.End
	}
	return p.Origin(p.Find(codes, row))
}

// Horizon returns the number of periods from the origin of a row to that of an id, 0
// for an id that is not after it or not a time.
func (p *Panel) Horizon(id string, codes [][]int32, row int) int32 {
	step, ok := p.Line.Step(id)
	if !ok {
		return 0
	}
	return int32(min(max(step-p.OriginOf(codes, row), 0), 1<<30))
}

// HorizonOf is Horizon of a row of the fitted table.
func (p *Panel) HorizonOf(codes [][]int32, row int) int32 {
	code := codes[p.Time][row]
	if code < 0 || int(code) >= len(p.known) {
		return 0
	}
	return max(p.known[code]-int32(p.OriginOf(codes, row)), 0)
}

// Find returns the position of the series of a row by the codes of its modes, -1 if it has
// none. It costs O(log n).
func (p *Panel) Find(codes [][]int32, row int) int {
	low, high := 0, p.Len()
	for low < high {
		mid := int(uint(low+high) >> 1)
		order := 0
		for k, m := range p.Keys {
			if c := codes[m][row]; p.Codes[k][mid] != c {
				order = cmp.Compare(p.Codes[k][mid], c)
				break
			}
		}
		switch {
		case order == 0:
			return mid
		case order < 0:
			low = mid + 1
		default:
			high = mid
		}
	}
	return -1
}
