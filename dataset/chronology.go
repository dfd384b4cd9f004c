package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
)

// A Chronology is the order in time of a mode's ids.
type Chronology struct {
	Order []int32 // codes, earliest first
	Note  string  // assumption that the order rests on, or ""

	Format IDFormat // how the ids write the time

	// Cycle is the unit of periods without a year that fill their cycle, such as the months
	// Jan to Dec: nothing can follow the last of them. It is "" for others.
	Cycle string
}

// cyclicFunctions repeat: the ids of hour(at) do not determine the day.
var cyclicFunctions = []string{"quarter", "month", "week", "day", "weekday", "monthday", "workday", "workdays", "hour", "minute", "clock"}

// Chronology finds the order in time of a mode's ids: dates by date; numbers by size;
// several numbers (year and month, in one column or joined from several) by the names
// of their columns and by their range, with the year first wherever it stands. It
// returns an error if the order is ambiguous, because a guess could put the future
// into the training set.
func (m Mode) Chronology(ids []string) (Chronology, error) {
	if slices.Contains(cyclicFunctions, m.Func) {
		column := fieldtext.QuoteColumn(m.Columns[0])
		return Chronology{}, fmt.Errorf("mode %s is %s, which is cyclic and has no last %s; use a mode made of yearmonth(%s) or date(%s), or of columns such as time=year+month",
			m.Name, m.Expression(), m.Func, column, column)
	}
	if f, times, ok := m.readIDs(ids); ok {
		return Chronology{Order: sortedBy(times.Values, ids), Note: times.Note, Format: f, Cycle: times.Cycle}, nil
	}
	if _, bad := calendar.MostDates(ids); bad != nil {
		return Chronology{}, fmt.Errorf("id %q of mode %s is not a date, but almost all others are; correct it or remove its rows", bad[0], m.Name)
	}
	if a, b, mixed := m.MixedTimes(ids); mixed {
		return Chronology{}, fmt.Errorf("the ids of mode %s are times in several forms, as %q and %q; write all of them alike, as 2016-12 or 2016-12-31%s", m.Name, a, b, m.DateRemedy(ids))
	}
	first, last := slices.MinFunc(ids, fieldtext.CompareNatural), slices.MaxFunc(ids, fieldtext.CompareNatural)
	return Chronology{}, fmt.Errorf("the order in time of mode %s (ids %q to %q) is ambiguous; make it from a year and a period within the year (time=year+month), from yearmonth(column) or date(column), or write its ids as 2016-12 or 2016-12-31%s",
		m.Name, first, last, m.DateRemedy(ids))
}

// mostForms is the largest number of forms of one column that are taken for times.
const mostForms = 4

// MixedTimes reports whether the ids of a mode of one column, which have no common order in
// time, are times in several forms, each of which has one, and returns two ids that differ in form.
func (m Mode) MixedTimes(ids []string) (a, b string, mixed bool) {
	if m.Func != "" || len(m.Columns) != 1 || len(ids) < 2 {
		return "", "", false
	}
	if with, without, mixed := calendar.SomeZoned(ids); mixed {
		return with, without, true
	}
	if a, b, mixed := calendar.BothOrders(ids); mixed {
		return a, b, true
	}
	forms := map[string][]string{}
	var names []string
	for _, id := range ids {
		form := formOf(id)
		if forms[form] == nil {
			if names = append(names, form); len(names) > mostForms {
				return "", "", false
			}
		}
		forms[form] = append(forms[form], id)
	}
	if len(names) < 2 {
		return "", "", false
	}
	for _, form := range names {
		if f, _, ok := m.readIDs(forms[form]); !ok || strings.Trim(form, "9") == "" && len(form) < 4 || len(f.Parts) == 0 || f.Parts[0].Unit == "" { // a number counts anything
			return "", "", false
		}
	}
	if _, _, common := m.readIDs(ids); common {
		return "", "", false
	}
	return forms[names[0]][0], forms[names[1]][0], true
}

// formOf replaces the digits of an id by 9, where one digit and two are alike, and letters by a.
func formOf(id string) string {
	var form []byte
	for i := 0; i < len(id); {
		n := 0
		for i+n < len(id) && id[i+n] >= '0' && id[i+n] <= '9' {
			n++
		}
		switch c := id[i] | 0x20; {
		case n > 0:
			form = append(form, "99"...)
			for range n - 2 {
				form = append(form, '9')
			}
			i += n
		case c >= 'a' && c <= 'z':
			form = append(form, 'a')
			i++
		default:
			form = append(form, id[i])
			i++
		}
	}
	return string(form)
}

// sortedBy returns the codes in the order of the numbers of their parts, and in natural order if these
// are equal (2015-1 and 2015-01).
func sortedBy(parts [][]float64, ids []string) []int32 {
	order := make([]int32, len(ids))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		for _, p := range parts {
			if c := cmp.Compare(p[a], p[b]); c != 0 {
				return c
			}
		}
		return fieldtext.CompareNatural(ids[a], ids[b])
	})
	return order
}
