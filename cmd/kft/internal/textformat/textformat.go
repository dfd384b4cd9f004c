// Package textformat formats numbers, tables and command lines for people.
package textformat

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Table is a table with aligned columns: the first Left ones to the left, the others to
// the right.
type Table struct {
	Header []string
	Rows   [][]string
	Left   int
}

var lineBreaks = strings.NewReplacer("\n", `\n`, "\t", `\t`)

// OneLine escapes a text, and its line breaks too: names of columns that spreadsheets write may have some.
func OneLine(text string) string { return lineBreaks.Replace(Escape(text)) }

// Write writes the header and the rows, one line each.
func (t *Table) Write(b *strings.Builder) {
	width := make([]int, len(t.Header))
	all := append([][]string{t.Header}, t.Rows...)
	for i, row := range all { // before their widths are counted
		all[i] = make([]string, len(row))
		for k, cell := range row {
			all[i][k] = OneLine(cell)
		}
	}
	for _, row := range all {
		for i, cell := range row {
			width[i] = max(width[i], Width(cell))
		}
	}
	for _, row := range all {
		var line strings.Builder
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			space := strings.Repeat(" ", width[i]-Width(cell))
			if i < t.Left {
				line.WriteString(cell + space)
			} else {
				line.WriteString(space + cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// Count formats a number with commas: 3,028,076.
func Count(n int) string {
	digits := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// Plural formats a count with its noun.
func Plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "s"):
		return Count(n) + " " + noun + "es"
	}
	return Count(n) + " " + noun + "s"
}

// Undefined stands for a measure that cannot be computed, such as R2 of one row.
const Undefined = "-"

// Ratio formats an R2, or Undefined.
func Ratio(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Undefined
	}
	return strconv.FormatFloat(v, 'f', 4, 64)
}

// Amount formats a value in units of the target, or Undefined.
func Amount(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return Undefined
	case math.Abs(v) >= 1e6 || v != 0 && math.Abs(v) < 1e-3:
		return strconv.FormatFloat(v, 'e', 3, 64)
	case math.Abs(v) >= 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// Bytes formats a size in binary units.
func Bytes(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	v := float64(n)
	for _, unit := range []string{"KiB", "MiB", "GiB"} {
		v /= 1024
		if v < 1024 || unit == "GiB" {
			return fmt.Sprintf("%.1f %s", v, unit)
		}
	}
	panic("textformat: unreachable")
}

// Duration formats a time: 12 s, 3 min 20 s.
func Duration(d time.Duration) string {
	s := int(math.Ceil(d.Seconds()))
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %d min", s/3600, s/60%60)
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// Quote quotes a word for a shell.
func Quote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// QuoteAll returns a command line: the quoted words, separated by spaces.
func QuoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = Quote(w)
	}
	return strings.Join(quoted, " ")
}
