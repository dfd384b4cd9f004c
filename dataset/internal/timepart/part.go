package timepart

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
)

// A Part is one number of a time, or a whole date.
type Part struct {
	Unit   Unit
	Column int            // that has it
	At     int            // among the numbers of the column
	Named  bool           // the column or the text names the unit; otherwise its range suggests it
	Half   bool           // of a time of the day with AM or PM
	Pair   bool           // a year is written with the next one, as in 1999/00
	Dates  calendar.Order // of a date

	clock calendar.Clock // of a date
}

// partValues is a part with its number in every text.
type partValues struct {
	Part
	values    []float64
	most      float64
	firstYear float64 // of years with two digits; see startOfCentury
	note      string  // how ambiguous dates are read
}

// partsOfColumns reads the values of each column as dates, as numbers, or as texts
// that differ only in their numbers.
func partsOfColumns(columns []string, fields [][]string) (parts []partValues, ok bool) {
	for c, values := range fields {
		if p, ok := yearPairPart(columns[c], values); ok && len(columns) > 1 { // the caller knows whether one column may have them
			p.Column = c
			parts = append(parts, p)
			continue
		}
		if p, ok := datePart(columns[c], values); ok {
			p.Column = c
			parts = append(parts, p)
			continue
		}
		within, ok := numberParts(values)
		if len(parts) == 1 && parts[0].Unit == Date && !(ok && areClocks(values)) {
			if clock, half := halfClockParts(values); half {
				within, ok = clock, true
			}
		}
		if !ok {
			return nil, false
		}
		if len(within) == 1 && within[0].Unit == None {
			within[0].Unit = UnitOf(columns[c])
		}
		if len(parts) == 1 && parts[0].Unit == Date && areClocks(values) {
			for at := range within {
				within[at].Unit = Hour + Unit(at)
			}
		}
		for at := range within {
			within[at].Column, within[at].At, within[at].Named = c, at, within[at].Unit != None
		}
		parts = append(parts, within...)
	}
	findShortYears(parts)
	for i := range parts {
		p := &parts[i]
		p.most = slices.Max(p.values)
		if p.Unit == None && slices.Min(p.values) >= 1000 && p.most <= 2999 && allWhole(p.values) {
			p.Unit = Year
		}
		if p.Unit == Year && p.most < 100 { // two digits
			p.firstYear = startOfCentury(p.values)
			for k, v := range p.values {
				if v < p.firstYear { // of the next century
					p.values[k] += 100
				}
			}
		}
	}
	return parts, true
}

// datePart reads the values of a column as dates.
func datePart(column string, values []string) (p partValues, ok bool) {
	p.Unit = Date
	if dottedQuarters(values) {
		return p, false // not months
	}
	if p.Dates, ok = calendar.OrderOf(values); !ok {
		if p.Dates, ok = NumberDates(column, values); !ok {
			return p, false
		}
	}
	p.note = DateNote(column, p.Dates, values)
	moments := make([]time.Time, len(values))
	for i, v := range values {
		moments[i], _ = p.Dates.Parse([]byte(v))
	}
	if p.clock, ok = calendar.ClockOf(moments); !ok {
		return p, false
	}
	if strings.Contains(values[0], ":") { // a clock, not unix time
		p.clock = p.clock.WithoutSeconds(moments)
	}
	for _, t := range moments {
		seconds, _ := p.clock.Seconds(t)
		p.values = append(p.values, seconds)
	}
	return p, true
}

// numberParts extracts the numbers from texts that differ only in them: 2016Q1,
// week 12, Jan 2016. The name of a month counts as a number.
func numberParts(values []string) ([]partValues, bool) {
	if p, ok := plainNumbers(values); ok && !DottedPeriods(values) {
		return []partValues{p}, true
	}
	var parts []partValues
	around := ""
	for k, text := range values {
		numbers, found, words := Numbers(text)
		if k == 0 {
			around = words
			for _, unit := range found {
				parts = append(parts, partValues{Part: Part{Unit: unit}})
			}
		}
		if words != around || len(numbers) != len(parts) || len(numbers) == 0 {
			return nil, false
		}
		for i, v := range numbers {
			parts[i].values = append(parts[i].values, v)
		}
	}
	return parts, true
}

func plainNumbers(values []string) (p partValues, ok bool) {
	for _, text := range values {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || v-v != 0 {
			return p, false
		}
		p.values = append(p.values, v)
	}
	return p, true
}

func allWhole(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v != float64(int(v)) })
}
