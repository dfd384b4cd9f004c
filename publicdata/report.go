// Package publicdata converts public downloads into the tables that kft reads,
// and generates synthetic tables of the same shapes with a known truth.
//
// Downloads contain errors. A row that cannot be used is skipped and counted by
// reason, with the position of the first such row. A problem that affects the
// whole file, such as a missing column, is an error.
package publicdata

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Report summarizes the conversion.
type Report struct {
	Read     int      // rows read
	Dropped  []Reason // skipped rows, most frequent reason first
	Excluded []Reason // cells excluded after aggregation
	Facts    []string // further information, one sentence each
	Warnings []string // reasons to doubt the tables
	Written  []OutputFile
}

// Reason is a reason for dropping rows.
type Reason struct {
	Text  string
	Rows  int
	First string // position and content of the first such row, or ""
}

// OutputFile is a file that was written.
type OutputFile struct {
	File        string
	Rows        int
	Description string // content, such as the number of ids
}

// reasonCounts counts rows by reason. The first row of a reason is that of the earliest call.
type reasonCounts struct{ reasons []Reason }

func (t *reasonCounts) add(why string, rows int, first string) {
	if rows == 0 {
		return
	}
	i := slices.IndexFunc(t.reasons, func(r Reason) bool { return r.Text == why })
	if i < 0 {
		t.reasons = append(t.reasons, Reason{Text: why, First: first})
		i = len(t.reasons) - 1
	}
	t.reasons[i].Rows += rows
}

// row counts a row. It formats the position only for the first row of a reason.
func (t *reasonCounts) row(why, file string, line int, value []byte) {
	for i := range t.reasons {
		if t.reasons[i].Text == why {
			t.reasons[i].Rows++
			return
		}
	}
	t.add(why, 1, describeLine(file, line, value))
}

// merge adds the counts of later rows.
func (t *reasonCounts) merge(other *reasonCounts) {
	for _, r := range other.reasons {
		t.add(r.Text, r.Rows, r.First)
	}
}

// sorted returns the reasons, most frequent first.
func (t *reasonCounts) sorted() []Reason {
	slices.SortFunc(t.reasons, func(a, b Reason) int { return cmp.Or(b.Rows-a.Rows, strings.Compare(a.Text, b.Text)) })
	return t.reasons
}

// describeLine formats the position and content of a line.
func describeLine(file string, line int, value []byte) string {
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
