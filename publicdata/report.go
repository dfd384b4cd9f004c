// Package publicdata turns public downloads into the tables that kft reads, and
// makes tables of the same shapes whose truth is known.
//
// Downloads are messy. Nothing in a row stops the work: a row that cannot be used
// is passed over and counted by its reason, with the place of the first. What makes
// the whole file useless, such as a missing column, is an error.
package publicdata

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Report says what became of the rows.
type Report struct {
	Read    int      // rows read
	Dropped []Reason // rows that were not used, most frequent first
	Left    []Reason // cells that were made and then left out
	Facts   []string // what else is worth knowing, a sentence each
	Written []Written
}

// Reason is why rows were dropped.
type Reason struct {
	Why   string
	Rows  int
	First string // where the first is and what stands there, or ""
}

// Written is a file that was made.
type Written struct {
	File  string
	Rows  int
	About string // the number of ids, what is in it
}

// tally counts rows by reason. The first one is that of the earliest call.
type tally struct{ reasons []Reason }

func (t *tally) add(why string, rows int, first string) {
	if rows == 0 {
		return
	}
	i := slices.IndexFunc(t.reasons, func(r Reason) bool { return r.Why == why })
	if i < 0 {
		t.reasons = append(t.reasons, Reason{Why: why, First: first})
		i = len(t.reasons) - 1
	}
	t.reasons[i].Rows += rows
}

// row counts a row; its place is put into words only where it is the first.
func (t *tally) row(why, file string, line int, value []byte) {
	for i := range t.reasons {
		if t.reasons[i].Why == why {
			t.reasons[i].Rows++
			return
		}
	}
	t.add(why, 1, place(file, line, value))
}

// merge adds what another has counted of later rows.
func (t *tally) merge(other *tally) {
	for _, r := range other.reasons {
		t.add(r.Why, r.Rows, r.First)
	}
}

// sorted returns the reasons, most frequent first.
func (t *tally) sorted() []Reason {
	slices.SortFunc(t.reasons, func(a, b Reason) int { return cmp.Or(b.Rows-a.Rows, strings.Compare(a.Why, b.Why)) })
	return t.reasons
}

// place names a line and what stands there, as the first of a reason.
func place(file string, line int, value []byte) string {
	const longest = 40
	text := string(value)
	if len(text) > longest {
		text = text[:longest] + "..."
	}
	if text == "" {
		return fmt.Sprintf("%s, line %d", file, line)
	}
	return fmt.Sprintf("%s, line %d: %q", file, line, text)
}
