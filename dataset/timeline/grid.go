package timeline

import (
	"math"
	"slices"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// kind is the coordinate in which a grid is regular.
type kind int

const (
	ordered kind = iota // no grid
	numbers             // running numbers
	months              // months since year 0
	weeks               // weeks since 1970, of dates of which few are moved
	days                // days since 1970, on some weekdays only
	seconds             // since 1970
)

// A grid maps the parts of an id to a whole coordinate, which is a multiple of every from
// the origin.
type grid struct {
	kind    kind
	every   int64 // coordinates per step
	unit    string
	perStep int64   // units per step
	day     int     // of the month by which months are written, see dayOfMonth; of weeks, from Thursday
	week    [7]bool // weekdays that occur, for days; from Sunday
}

// regularFrom is the number of distinct periods from which a common distance of several
// units is taken for the step: every second week.
const regularFrom = 4

// findGrid finds the longest step of which all ids are multiples apart, and their
// coordinates.
func findGrid(f *dataset.IDFormat, values [][]float64) (grid, []int64) {
	if len(f.Parts) == 1 && f.Parts[0].Unit != "date" && f.Parts[0].Unit != "year" {
		return findNumbers(f.Parts[0].Unit, column(values, 0))
	}
	if len(f.Parts) == 2 && runsOn(*f, values) {
		return findNumbers("", column(values, 1))
	}
	settle(f, values)
	moments := make([]time.Time, len(values))
	for i, v := range values {
		var ok bool
		if moments[i], ok = moment(*f, v); !ok {
			return grid{}, nil
		}
	}
	finest := f.Parts[len(f.Parts)-1].Unit
	if finest == "date" || finest == "weekday" {
		finest = "day"
	}
	grids := []grid{{kind: months, day: 1}, {kind: weeks}, {kind: days}, {kind: seconds}}
	if finest == "day" {
		grids = slices.Insert(grids, 1, monthsByDay(moments)...)
	}
	for _, g := range grids {
		if g.kind == months && hasUnit(*f, "week") {
			continue
		}
		coordinates, ok := g.fit(moments, finest)
		if !ok {
			continue
		}
		if !injective(values, coordinates) {
			return grid{}, nil // weeks that do not follow the calendar, for example
		}
		return g, coordinates
	}
	return grid{}, nil
}

// injective reports whether ids with different parts have different coordinates.
func injective(values [][]float64, coordinates []int64) bool {
	seen := map[int64][]float64{}
	for i, c := range coordinates {
		if v, twice := seen[c]; twice && !slices.Equal(v, values[i]) {
			return false
		}
		seen[c] = values[i]
	}
	return true
}

func column(values [][]float64, at int) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v[at]
	}
	return out
}

func hasUnit(f dataset.IDFormat, unit string) bool {
	return slices.ContainsFunc(f.Parts, func(p dataset.TimePart) bool { return p.Unit == unit })
}

// runsOn reports whether a number beside the year does not restart with it.
func runsOn(f dataset.IDFormat, values [][]float64) bool {
	most := map[string]float64{"quarter": 4, "month": 12, "week": 53}
	limit, within := most[f.Parts[1].Unit]
	return f.Parts[0].Unit == "year" && within && slices.Max(column(values, 1)) > limit
}

// settle decides what a number beside the year counts if only its range says so: half-years if it is 1 and 2
// in two years or more and nothing else, up to 4 quarters, up to 12 months, otherwise weeks.
func settle(f *dataset.IDFormat, values [][]float64) {
	if len(f.Parts) != 2 || f.Parts[0].Unit != "year" || f.Parts[1].Unit != "week" || f.Parts[1].Named {
		return
	}
	f.Parts = slices.Clone(f.Parts)
	years := map[float64]int{} // with both 1 and 2
	for _, v := range values {
		if v[1] == 2 && slices.ContainsFunc(values, func(w []float64) bool { return w[0] == v[0] && w[1] == 1 }) {
			years[v[0]]++
		}
	}
	switch most := slices.Max(column(values, 1)); {
	case most == 2 && slices.Min(column(values, 1)) == 1 && len(years) > 1:
		f.Parts[1].Unit = "half"
	case most <= 4:
		f.Parts[1].Unit = "quarter"
	case most <= 12:
		f.Parts[1].Unit = "month"
	}
}

func findNumbers(unit string, v []float64) (grid, []int64) {
	out := make([]int64, len(v))
	for i, x := range v {
		if x != math.Trunc(x) || math.Abs(x) >= 1<<40 {
			return grid{}, nil
		}
		out[i] = int64(x)
	}
	if slices.Max(out)-slices.Min(out) >= math.MaxInt32 {
		return grid{}, nil
	}
	g := grid{kind: numbers, unit: unit, every: 1, perStep: 1}
	if spacing, distinct := spacingOf(out); distinct >= regularFrom {
		g.every, g.perStep = spacing, spacing
	}
	if unit == "weekday" {
		g.unit = "day"
	}
	return g, out
}

// fit sets the step of the grid, and returns coordinates, if the moments lie on a grid of
// its kind. The finest unit of the ids is the step of a single moment.
func (g *grid) fit(moments []time.Time, finest string) ([]int64, bool) {
	if g.kind == days && !g.findWeekdays(moments) || g.kind == weeks && (finest != "day" || !g.findWeeks(moments)) {
		return nil, false
	}
	out := make([]int64, len(moments))
	for i, t := range moments {
		var ok bool
		if out[i], ok = g.of(t); !ok {
			return nil, false
		}
	}
	spacing, distinct := spacingOf(out)
	for _, u := range g.units() {
		if spacing%u.length == 0 && (u.name == finest || u.length == 1 || distinct > 2 || distinct > 1 && g.kind == seconds) {
			g.unit, g.every, g.perStep = u.name, u.length, 1
			if distinct >= regularFrom {
				g.every, g.perStep = spacing, spacing/u.length
			}
			break
		}
	}
	return out, (slices.Max(out)-slices.Min(out))/g.every < math.MaxInt32
}

// unit is a unit of the calendar with its length in coordinates.
type unit struct {
	name   string
	length int64
}

// units returns the units of the grid's kind, the longest first.
func (g *grid) units() []unit {
	switch g.kind {
	case months:
		return []unit{{"year", 12}, {"quarter", 3}, {"month", 1}}
	case weeks:
		return []unit{{"week", 1}}
	case days:
		return []unit{{"day", 1}}
	}
	return []unit{{"week", 7 * 86400}, {"day", 86400}, {"hour", 3600}, {"minute", 60}, {"second", 1}}
}

// spacingOf returns the greatest common divisor of the differences of numbers, 0 if all
// are equal, and the number of distinct ones.
func spacingOf(v []int64) (divisor int64, distinct int) {
	seen := map[int64]bool{}
	for _, x := range v {
		seen[x] = true
		a, b := divisor, max(x-v[0], v[0]-x)
		for b != 0 {
			a, b = b, a%b
		}
		divisor = a
	}
	return divisor, len(seen)
}

// findWeekdays reports whether the moments are days of some weekdays only, as those of a
// shop that is closed on Sundays: over four weeks or more, with most of these days present.
func (g *grid) findWeekdays(moments []time.Time) bool {
	seen := map[int64]bool{}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, t := range moments {
		if t.Unix()%86400 != 0 || t.Nanosecond() != 0 {
			return false
		}
		day := t.Unix() / 86400
		seen[day], g.week[t.Weekday()] = true, true
		first, last = min(first, day), max(last, day)
	}
	open := g.open()
	expected := float64(last-first+1) * float64(open) / 7
	return open >= 2 && open < 7 && last-first >= 28 && float64(len(seen)) > expected/2
}

func (g *grid) open() int {
	n := 0
	for _, open := range g.week {
		if open {
			n++
		}
	}
	if n == 0 {
		return 7
	}
	return n
}

// of returns the coordinate of a moment. There is none between two coordinates.
func (g *grid) of(t time.Time) (int64, bool) {
	switch g.kind {
	case months:
		c := int64(12*t.Year() + int(t.Month()) - 1)
		off := t.Sub(g.at(c)).Abs()
		return c, off == 0 || g.day < 1 && off <= mostClosed*24*time.Hour && off%(24*time.Hour) == 0
	case weeks:
		return g.weekOf(t)
	case days:
		day := floorDiv(t.Unix(), 86400)
		if !g.week[t.Weekday()] {
			return 0, false
		}
		// Day 0 of 1970 is a Thursday; weeks are counted from Sunday.
		week, c := floorDiv(day+4, 7), int64(0)
		for w := range t.Weekday() {
			if g.week[w] {
				c++
			}
		}
		return week*int64(g.open()) + c, true
	default:
		return t.Unix(), t.Nanosecond() == 0
	}
}

// at undoes of.
func (g *grid) at(c int64) time.Time {
	switch g.kind {
	case months:
		return dayOfMonth(int(floorDiv(c, 12)), time.Month(c-12*floorDiv(c, 12)+1), g.day)
	case weeks:
		return time.Unix((7*c+int64(g.day))*86400, 0).UTC()
	case days:
		open := int64(g.open())
		week, left := floorDiv(c, open), c-open*floorDiv(c, open)
		for w := range int64(7) {
			if !g.week[w] {
				continue
			}
			if left == 0 {
				return time.Unix((week*7-4+w)*86400, 0).UTC()
			}
			left--
		}
	}
	return time.Unix(c, 0).UTC()
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
