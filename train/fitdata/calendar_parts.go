package fitdata

import (
	"math"
	"slices"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/timeline"
	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// CalendarParts returns the parts of a mode of time that recur, as in month and weekday:
// columns of which the mode is made, or functions of its dates. Each value of a part
// occurs in several periods, on average, so a part of a future period is known.
func (d *Data) CalendarParts(mode int) []string {
	m, ids := d.table.Modes[mode], d.table.Dicts[mode].IDs()
	names := []string{"clock", "hour", "weekday", "week", "month"}
	if len(m.Columns) > 1 && !m.HasClock() {
		names = m.Columns
	}
	var parts []string
	line, err := timeline.New(m, ids)
	for _, name := range names {
		if err == nil && !within(name, line.Unit()) {
			continue
		}
		joined, joinErr := sideinfo.JoinIDColumns(sideinfo.Spec{Mode: m.Name, Columns: []sideinfo.ColumnSpec{{Name: name, Type: sideinfo.Group}}}, m, ids)
		if joinErr != nil {
			continue
		}
		levels := slices.Clone(joined.Rows.Columns[0])
		slices.Sort(levels)
		if n := len(slices.Compact(levels)); n >= 2 && 4*n <= 3*len(ids) && !d.newLevels(mode, joined.Rows.Columns[0]) && d.recurs(mode, joined.Rows.Columns[0]) {
			parts = append(parts, name)
		}
	}
	return parts
}

// HasWorkdays reports whether the periods of a mode of time are months, and the training rows have all numbers of
// workdays of a month that the validation rows have.
func (d *Data) HasWorkdays(mode int) bool {
	line, err := d.timeline(mode)
	if err != nil || !line.Regular() || line.Period() != "month" {
		return false
	}
	ids := d.table.Dicts[mode].IDs()
	levels := make([]string, len(ids))
	for code, id := range ids {
		t, ok := d.table.Modes[mode].MomentOfID(id)
		if !ok {
			return false
		}
		levels[code], _ = dataset.Calendar("workdays", t)
	}
	return !d.newLevels(mode, levels)
}

// Days returns the day of each id of a mode of time, or nil if its periods are longer than a day.
func (d *Data) Days(mode int) []time.Time {
	line, err := d.timeline(mode)
	if err != nil || !line.Regular() || !within("weekday", line.Unit()) {
		return nil
	}
	ids := d.table.Dicts[mode].IDs()
	days := make([]time.Time, len(ids))
	for code, id := range ids {
		t, ok := d.table.Modes[mode].MomentOfID(id)
		if !ok {
			return nil
		}
		days[code] = time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	}
	return days
}

// DayMeans returns the means of the training rows of the days of a mode of time, where days has the day of each id and
// values are in standard deviations from the mean of their series, the combination of ids of some modes.
func (d *Data) DayMeans(days []time.Time, mode int, series []int) map[time.Time]float64 {
	type moments struct{ first, n, sum, squares float64 } // of the differences from the first value
	of := map[uint64]*moments{}
	key := func(row int) (k uint64) {
		for _, m := range series { // combinations beyond 2^64 hardly repeat; a collision is harmless
			k = k*uint64(d.table.Dicts[m].Len()) + uint64(d.table.Codes[m][row])
		}
		return k
	}
	rows := d.rowsOf(dataset.Train)
	for _, row := range rows {
		k, y := key(row), d.table.Target(row)
		if of[k] == nil {
			of[k] = &moments{first: y}
		}
		m := of[k]
		y -= m.first
		m.n, m.sum, m.squares = m.n+1, m.sum+y, m.squares+y*y
	}
	sum, count := map[time.Time]float64{}, map[time.Time]float64{}
	for _, row := range rows {
		m := of[key(row)]
		mean := m.sum / m.n
		if variance := m.squares/m.n - mean*mean; variance > 0 {
			day := days[d.table.Codes[mode][row]]
			sum[day] += (d.table.Target(row) - m.first - mean) / math.Sqrt(variance)
			count[day]++
		}
	}
	for day, n := range count {
		sum[day] /= n
	}
	return sum
}

// newLevels reports whether some validation row has a level of a part of the time that no
// training row has, such as the next year.
func (d *Data) newLevels(mode int, level []string) bool {
	trained := map[string]bool{}
	for i, p := range d.split.Parts {
		if p == dataset.Train {
			trained[level[d.table.Codes[mode][i]]] = true
		}
	}
	for i, p := range d.split.Parts {
		if p == dataset.Valid && !trained[level[d.table.Codes[mode][i]]] {
			return true
		}
	}
	return false
}

// within reports whether a part of a date can differ between periods of a unit other than
// by accident: the weekday of the first day of a month says nothing about the month.
func within(part, unit string) bool {
	switch part {
	case "clock":
		return unit == "minute"
	case "hour":
		return unit == "hour" || unit == "minute" || unit == "second"
	case "weekday":
		return unit == "day" || within("hour", unit)
	case "week":
		return unit == "week" || within("weekday", unit)
	}
	return true
}
