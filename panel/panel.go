// Package panel lists the series of a table that has a mode of time. A series is a
// combination of ids of the other modes that has training rows; without other modes the
// table is one series.
package panel

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/timeline"
	"github.com/kernel-fried-tensor/kft/internal/hashtable"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
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

// New lists the series of training rows. ids returns the ids of a mode, codes has the
// codes of the rows by mode, and target returns the target of a row. along is the mode of
// time, -1 for the one that [timeline.ModeOf] finds. Without a mode of
// time, or if hardly any series has two rows, there is none. It costs O(n) for n rows.
func New(threads int, modes []dataset.Mode, ids func(mode int) []string, along int, codes [][]int32, target func(row int) float64) *Panel {
	p := newPanel(modes, ids, along)
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
	most := int(float64(len(codes[0])) / minRepeats)
	// Each thread takes the rows of a range of codes of the first key; without keys, all
	// rows are one series.
	borders := []int32{0, 1}
	if len(p.Keys) > 0 {
		borders = cutCodes(threads, codes[p.Keys[0]], int(sizes[0]))
	}
	parts := make([][]series, len(borders)-1)
	ends := make([]int32, len(parts))
	parallel.For(threads, len(parts), func(t int) {
		parts[t], ends[t] = p.collect(borders[t], borders[t+1], sizes, codes, target, most)
	})
	found := slices.Concat(parts...)
	if len(found) > most {
		return nil
	}
	p.End = int64(slices.Max(ends))
	p.allocate(len(found))
	for i, s := range found {
		p.First[i], p.Last[i], p.Rows[i], p.Mean[i] = s.first, s.last, s.rows, float32(s.sum/float64(s.rows))
		for k := len(p.Keys) - 1; k >= 0; k-- {
			p.Codes[k][i] = int32(s.key % sizes[k])
			s.key /= sizes[k]
		}
	}
	return p
}

// series is what New collects of a series.
type series struct {
	key         uint64
	first, last int32
	rows        int32
	sum         float64
}

// cutCodes cuts the codes of a column into ranges of about as many rows each, at most
// the given number, and returns their borders.
func cutCodes(ranges int, column []int32, size int) []int32 {
	rows := make([]int, size)
	for _, c := range column {
		rows[c]++
	}
	borders, sum := []int32{0}, 0
	for c, n := range rows {
		if sum += n; sum*ranges >= len(column)*len(borders) && c+1 < size {
			borders = append(borders, int32(c+1))
		}
	}
	return append(borders, int32(size))
}

// collect returns the series whose code of the first key is in [from, to), by key, and
// the last step of their rows. It stops when there are more than most.
func (p *Panel) collect(from, to int32, sizes []uint64, codes [][]int32, target func(row int) float64, most int) (found []series, end int32) {
	at := hashtable.New(0)
	for i := range codes[0] {
		if len(p.Keys) > 0 {
			if lead := codes[p.Keys[0]][i]; lead < from || lead >= to {
				continue
			}
		}
		key := uint64(0)
		for k, m := range p.Keys {
			key = key*sizes[k] + uint64(codes[m][i])
		}
		step := p.known[codes[p.Time][i]]
		end = max(end, step)
		s, seen := at.Get(key + 1)
		if !seen {
			if len(found) > most {
				break
			}
			s = int32(len(found))
			at.Put(key+1, s)
			found = append(found, series{key: key, first: step, last: step})
		}
		own := &found[s]
		own.first, own.last = min(own.first, step), max(own.last, step)
		own.rows++
		own.sum += target(i)
	}
	slices.SortFunc(found, func(a, b series) int { return cmp.Compare(a.key, b.key) })
	return found, end
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

func (p *Panel) allocate(n int) {
	p.Codes = make([][]int32, len(p.Keys))
	for k := range p.Codes {
		p.Codes[k] = make([]int32, n)
	}
	p.First, p.Last, p.Rows, p.Mean = make([]int32, n), make([]int32, n), make([]int32, n), make([]float32, n)
}

// Len returns the number of series.
func (p *Panel) Len() int { return len(p.Rows) }

// Steps returns the steps of the ids of the fitted table, by code of the mode of time.
func (p *Panel) Steps() []int32 { return p.known }

// Horizon returns the number of periods from the last training period to that of an id, 0
// for an id that is not after it or not a time.
func (p *Panel) Horizon(id string) int32 {
	step, ok := p.Line.Step(id)
	if !ok || step <= p.End {
		return 0
	}
	return int32(min(step-p.End, 1<<30))
}

// HorizonOf is Horizon of a code of the fitted table.
func (p *Panel) HorizonOf(code int32) int32 {
	if code < 0 || int(code) >= len(p.known) {
		return 0
	}
	return max(p.known[code]-int32(p.End), 0)
}
