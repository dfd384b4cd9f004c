// Package timeline numbers the periods of a mode of time. It recognises years, quarters,
// months, weeks, days, hours, minutes and running numbers from the ids of a table, counts
// the periods that do not occur, and writes the ids of future periods as the table writes
// its own.
package timeline

import (
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// A Timeline is a regular grid of periods on which the ids of a mode lie. The earliest id
// has step 0. If the ids say only their order, as 1.5, 2 and 3.25 do, steps are positions
// in that order, and the timeline is not regular: it has no other periods than those of
// the ids.
type Timeline struct {
	mode   dataset.Mode
	note   string
	format dataset.IDFormat
	grid   grid
	writer *writer // nil if future ids cannot be written

	origin int64 // coordinate of step 0
	ids    []string
	steps  []int64 // by code
	known  map[int64]string
	order  map[string]int64 // steps of ids without a grid
	last   int64
}

// New finds the periods of a mode's ids. It returns the error of
// [dataset.Mode.Chronology] if their order in time is ambiguous.
func New(mode dataset.Mode, ids []string) (*Timeline, error) {
	if len(ids) == 0 {
		return nil, fmt.Errorf("mode %s has no ids, so it has no periods", mode.Name)
	}
	chronology, err := mode.Chronology(ids)
	if err != nil {
		return nil, err
	}
	t := &Timeline{mode: mode, note: chronology.Note, format: chronology.Format, ids: ids, steps: make([]int64, len(ids)), known: map[int64]string{}}
	values := make([][]float64, len(ids))
	for i, id := range ids {
		values[i], _ = t.format.Values(id) // Chronology has read it
	}
	var coordinates []int64
	t.grid, coordinates = findGrid(&t.format, values)
	if t.grid.kind == ordered {
		t.order = map[string]int64{}
		for at, code := range chronology.Order {
			t.steps[code], t.order[ids[code]] = int64(at), int64(at)
		}
	} else {
		t.origin = slices.Min(coordinates)
		for i, c := range coordinates {
			t.steps[i] = (c - t.origin) / t.grid.every
		}
	}
	t.last = slices.Max(t.steps)
	for _, code := range slices.Backward(chronology.Order) {
		t.known[t.steps[code]] = ids[code]
	}
	if t.grid.kind != ordered {
		t.writer = t.newWriter(chronology.Order)
	}
	return t, nil
}

// Mode returns the mode whose ids were numbered.
func (t *Timeline) Mode() dataset.Mode { return t.mode }

// Steps returns the steps of the ids that the timeline was made for, by code.
func (t *Timeline) Steps() []int64 { return t.steps }

// Last returns the step of the latest id.
func (t *Timeline) Last() int64 { return t.last }

// Regular reports whether the ids lie on a grid, so that later periods exist.
func (t *Timeline) Regular() bool { return t.grid.kind != ordered }

// Unit returns year, quarter, month, week, day, hour, minute or second, or "" for running
// numbers and for ids that say only their order.
func (t *Timeline) Unit() string { return t.grid.unit }

// Every returns the number of units from one step to the next: 15 for quarters of an hour.
func (t *Timeline) Every() int64 { return t.grid.perStep }

// Period names one step: day, or 30-minute period; "" for running numbers.
func (t *Timeline) Period() string {
	if t.grid.unit == "" || t.grid.perStep == 1 {
		return t.grid.unit
	}
	return fmt.Sprintf("%d-%s period", t.grid.perStep, t.grid.unit)
}

// Note returns an assumption that the order rests on, or "".
func (t *Timeline) Note() string { return t.note }

// Step returns the step of an id, which need not be among those that the timeline was
// made for. It is negative before the earliest one. There is none for an id that is not
// written like the others or that lies between two steps.
func (t *Timeline) Step(id string) (step int64, ok bool) {
	if t.grid.kind == ordered {
		step, ok = t.order[id]
		return step, ok
	}
	values, ok := t.format.Values(id)
	if !ok {
		return 0, false
	}
	c, ok := t.grid.coordinate(t.format, values)
	if !ok {
		return 0, false
	}
	d := c - t.origin
	if d%t.grid.every != 0 {
		return 0, false
	}
	return d / t.grid.every, true
}

// WhyNone says why an id has no step. It is "" for an id that has one.
func (t *Timeline) WhyNone(id string) string {
	if _, ok := t.Step(id); ok {
		return ""
	}
	example := t.known[t.last]
	if t.grid.kind == ordered {
		return fmt.Sprintf("the ids of mode %s, such as %s, give their order but no other periods", t.mode.Name, example)
	}
	values, ok := t.format.Values(id)
	if ok && t.grid.kind != numbers {
		_, ok = moment(t.format, values)
	}
	switch unit := t.grid.unit; {
	case !ok:
		return fmt.Sprintf("this is not a date or a period written as %s is", example)
	case t.grid.kind == days:
		return fmt.Sprintf("this is on a weekday that has no periods, which are written as %s", example)
	case unit == "":
		return fmt.Sprintf("this is between two periods, which are written as %s", example)
	case t.grid.perStep > 1:
		return fmt.Sprintf("this is between two periods, which are %d %ss apart and written as %s", t.grid.perStep, unit, example)
	default:
		return fmt.Sprintf("this does not name a period, which is a %s written as %s", unit, example)
	}
}

// ID returns the id of a step, written as the ids of the table are. It returns an error if
// the table does not say how.
func (t *Timeline) ID(step int64) (string, error) {
	if id, ok := t.known[step]; ok {
		return id, nil
	}
	if t.writer == nil {
		return "", fmt.Errorf("mode %s has ids such as %q, which give the order in time but not the period after the last; make it from a year and a period within the year (time=year+month), from yearmonth(column) or date(column), or write its ids as 2016-12 or 2016-12-31",
			t.mode.Name, t.known[t.last])
	}
	if step > math.MaxInt32 || step < math.MinInt32 {
		return "", fmt.Errorf("step %d of mode %s is out of range", step, t.mode.Name)
	}
	id, ok := t.writer.write(t.origin + step*t.grid.every)
	if back, found := t.Step(id); !ok || !found || back != step {
		return "", fmt.Errorf("mode %s: the period %d after %q cannot be written like the other ids", t.mode.Name, step-t.last, t.known[t.last])
	}
	if t.note != "" && step > t.last && t.wraps(id) {
		return "", fmt.Errorf("mode %s: the period after %q is unknown, because %s", t.mode.Name, t.known[t.last], t.note)
	}
	return id, nil
}

// wraps reports whether an id is beyond the cycle of a unit such as month 13.
func (t *Timeline) wraps(id string) bool {
	most := map[string]float64{"quarter": 4, "month": 12, "week": 53, "day": 31, "weekday": 7, "hour": 23, "minute": 59}
	values, _ := t.format.Values(id)
	limit, cyclic := most[t.format.Parts[0].Unit]
	return cyclic && values[0] > limit
}

// Next returns the ids of the h periods after the latest one.
func (t *Timeline) Next(h int) ([]string, error) {
	ids := make([]string, 0, max(h, 0))
	for k := range h {
		id, err := t.ID(t.last + 1 + int64(k))
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Columns returns the values of the mode's columns for a step, from which its id is made.
// The column of a function such as yearmonth(date) gets the first moment of the period.
func (t *Timeline) Columns(step int64) ([]string, error) {
	id, err := t.ID(step)
	if err != nil {
		return nil, err
	}
	if t.mode.Func == "" {
		columns, _ := t.format.Split(id)
		return columns, nil
	}
	c := t.origin + step*t.grid.every
	at := t.grid.at(c) // functions with an order give moments
	if at.Hour() != 0 || at.Minute() != 0 {
		return []string{at.Format("2006-01-02 15:04")}, nil
	}
	return []string{at.Format("2006-01-02")}, nil
}

// A Cycle is a span of time after which a pattern may recur.
type Cycle struct {
	Name    string  // day, week or year
	Periods float64 // its length in steps
}

// Cycles returns the cycles of the calendar that are longer than a step and at most a
// year, the shortest first: a year of 12 months, a week of 7 days and a year of 365.25,
// a day of 24 hours and a week of 168.
func (t *Timeline) Cycles() []Cycle {
	const day, week, year = 86400.0, 7 * 86400.0, 365.25 * 86400
	var length float64 // of a unit, in seconds
	var cycles []Cycle
	switch t.grid.unit {
	case "quarter":
		length, cycles = year/4, []Cycle{{"year", year}}
	case "month":
		length, cycles = year/12, []Cycle{{"year", year}}
	case "week":
		length, cycles = week, []Cycle{{"year", year}}
	case "day":
		length, cycles = day, []Cycle{{"week", week}, {"year", year}}
		if open := t.grid.open(); open < 7 {
			length = week / float64(open)
		}
	case "hour":
		length, cycles = 3600, []Cycle{{"day", day}, {"week", week}}
	case "minute":
		length, cycles = 60, []Cycle{{"day", day}, {"week", week}}
	case "second":
		length, cycles = 1, []Cycle{{"day", day}}
	}
	step := length * float64(t.grid.perStep)
	for i := range cycles {
		cycles[i].Periods /= step
	}
	return slices.DeleteFunc(cycles, func(c Cycle) bool { return !(c.Periods > 1.5) })
}

// OnePeriodEach returns an error if two ids are the same period, written differently.
func (t *Timeline) OnePeriodEach() error {
	seen := map[int64]string{}
	for i, step := range t.steps {
		if other, twice := seen[step]; twice {
			unit := t.grid.unit
			if unit == "" || t.grid.perStep > 1 {
				unit = "period"
			}
			return fmt.Errorf("mode %s: the ids %q and %q are the same %s, so its cells have several values; write them in the same way", t.mode.Name, other, t.ids[i], unit)
		}
		seen[step] = t.ids[i]
	}
	return nil
}
