package split

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/timeline"
	"github.com/kernel-fried-tensor/kft/internal/plural"
)

// Ends says where the series of a table end, so that each may be split and forecast at its
// own end. It takes 4 bytes per row and is immutable.
type Ends struct {
	Time int // mode of time

	line   *timeline.Timeline
	codes  []int32 // of the mode of time, by row
	steps  []int64 // by code
	series []int32 // by row
	first  []int64 // by series: step of its first row
	last   []int64
	rows   []int
}

// FindEnds finds the series of a table, the combinations of ids of the modes that distinguish
// them. It costs O(n) for n rows, and is nil if the combinations are too many to be numbered.
func FindEnds(t *dataset.Table, time int, keys []int) (*Ends, error) {
	line, err := timeline.New(t.Modes[time], t.Dicts[time].IDs())
	if err != nil {
		return nil, err
	}
	possible := uint64(1)
	for _, m := range keys {
		high, low := bits.Mul64(possible, uint64(t.Dicts[m].Len()))
		if high > 0 {
			return nil, nil
		}
		possible = low
	}
	e := &Ends{Time: time, line: line, codes: t.Codes[time], steps: line.Steps(), series: make([]int32, t.Len())}
	number := newNumbers(possible, t.Len())
	for row := range e.series {
		key := uint64(0)
		for _, m := range keys {
			key = key*uint64(t.Dicts[m].Len()) + uint64(t.Codes[m][row])
		}
		s := number.of(key)
		if int(s) == len(e.last) {
			e.first, e.last, e.rows = append(e.first, math.MaxInt64), append(e.last, -1), append(e.rows, 0)
		}
		step := e.steps[e.codes[row]]
		e.series[row] = s
		e.first[s], e.last[s] = min(e.first[s], step), max(e.last[s], step)
		e.rows[s]++
	}
	return e, nil
}

// numbers numbers keys by their first occurrence.
type numbers struct {
	dense []int32 // by key: the number and 1; nil if there are many more keys than rows
	few   map[uint64]int32
	n     int32
}

func newNumbers(keys uint64, rows int) *numbers {
	if keys <= 4*uint64(rows) {
		return &numbers{dense: make([]int32, keys)}
	}
	return &numbers{few: map[uint64]int32{}}
}

func (n *numbers) of(key uint64) int32 {
	known := int32(0)
	if n.dense != nil {
		known = n.dense[key]
	} else {
		known = n.few[key]
	}
	if known == 0 {
		n.n++
		if known = n.n; n.dense != nil {
			n.dense[key] = known
		} else {
			n.few[key] = known
		}
	}
	return known - 1
}

// Step returns the step of a row, counted so that its series ends with the table.
func (e *Ends) Step(row int) int64 {
	return e.steps[e.codes[row]] + e.line.Last() - e.last[e.series[row]]
}

// By these shares the series of a table have their own ends.
const (
	leastEnded    = 0.2  // share of the series of running numbers that end before the others
	mostActive    = 0.5  // share of the series of dates that reach the last season
	leastUnbroken = 0.95 // share of the series without a gap
	leastRows     = 2    // per series on average
)

// Differ says that the series of a table have their own ends rather than that some of them
// stopped, "" if they do not. They have no gaps, and either their times are numbers that begin with the
// same one in each series, of which a fifth or more end early, or they are dates, and at most half of the
// series have a row in the last season. Combinations of ids with a single row, as those of users and films are, are no series.
func (e *Ends) Differ() string {
	n, end := len(e.last), e.line.Last()
	if n < 2 || len(e.series) < leastRows*n || !e.line.Regular() {
		return ""
	}
	window := int64(1)
	for _, c := range e.line.Cycles() {
		window = max(window, int64(math.Ceil(c.Periods)))
	}
	unbroken, begin, reach, active := 0, 0, 0, 0
	for s, last := range e.last {
		unbroken += boolean(int64(e.rows[s]) == last-e.first[s]+1)
		begin += boolean(e.first[s] == 0)
		reach += boolean(last == end)
		active += boolean(last > end-window)
	}
	differ := float64(active) <= mostActive*float64(n)
	if e.numbered() {
		differ = begin == n && float64(n-reach) >= leastEnded*float64(n)
	}
	if !differ || float64(unbroken) < leastUnbroken*float64(n) {
		return ""
	}
	return fmt.Sprintf("%d of %d series end before the table does, so each is split and forecast at its own end", n-reach, n)
}

// numbered reports whether the times are running numbers: no part of a calendar, or weeks, say, from 0 or 1 on.
func (e *Ends) numbered() bool {
	first, err := e.line.ID(0)
	n, notNumber := strconv.Atoi(first)
	return e.line.Unit() == "" || err == nil && notNumber == nil && (n == 0 || n == 1)
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// KeepShort puts the rows of series that a split leaves without training rows into the training
// set: nothing can be forecast from an end before which there is nothing.
func (e *Ends) KeepShort(parts []dataset.Part) {
	trained := make([]bool, len(e.last))
	for row, p := range parts {
		if p == dataset.Train {
			trained[e.series[row]] = true
		}
	}
	for row, p := range parts {
		if p != dataset.Unused && !trained[e.series[row]] {
			parts[row] = dataset.Train
		}
	}
}

// Later reports whether in every series the rows of other parts come after those of the training set,
// and there are some.
func (e *Ends) Later(parts []dataset.Part) bool {
	trained := make([]int64, len(e.last)) // the last training step and 1
	for row, p := range parts {
		if s := e.series[row]; p == dataset.Train {
			trained[s] = max(trained[s], 1+e.steps[e.codes[row]])
		}
	}
	held := false
	for row, p := range parts {
		if p != dataset.Valid && p != dataset.Test {
			continue
		}
		if e.steps[e.codes[row]] < trained[e.series[row]] {
			return false
		}
		held = true
	}
	return held
}

// ApplyEnds is Apply of a split by time in which the last periods are those of each series.
func (s Spec) ApplyEnds(e *Ends, seed uint64) (*Split, error) {
	split := &Split{Spec: s.String(), Seed: seed, Parts: make([]dataset.Part, len(e.series))}
	last := int64(s.last)
	for row := range split.Parts {
		switch left := e.line.Last() - e.Step(row); {
		case left < last:
			split.Parts[row] = dataset.Test
		case left < 2*last:
			split.Parts[row] = dataset.Valid
		}
	}
	e.KeepShort(split.Parts)
	split.Periods = map[dataset.Part]string{
		dataset.Test:  fmt.Sprintf("the last %s of each series", plural.Count(s.last, "period")),
		dataset.Valid: fmt.Sprintf("the %s before the last %d", plural.Count(s.last, "period"), s.last),
		dataset.Train: "all before those",
	}
	return s.checked(split)
}

// OfTime reports whether the split is by time.
func (s Spec) OfTime() bool { return s.kind == "time" }
