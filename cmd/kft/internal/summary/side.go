package summary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	terms "github.com/kernel-fried-tensor/kft/spec"
)

// maxSideColumns is the largest number of columns of a side table that are listed.
const maxSideColumns = 20

// WriteSide describes each side table: the ids that it matched, its operator, the
// types of its columns and its groups.
func WriteSide(b *strings.Builder, reports []kft.SideReport, spec kft.Spec) {
	for _, r := range reports {
		if r.Curve != nil {
			continue // a covariate, which the description of the data has
		}
		fmt.Fprintf(b, "Side: %s: %s", r.Mode, sideRows(r.Table))
		if r.Space == "" { // groups only
			fmt.Fprintf(b, "; %s\n", sideGroups(r.Groups))
			writeNotes(b, r.Notices)
			continue
		}
		operator := r.Space
		if r.Kernel != "" {
			operator += " with kernel " + r.Kernel
		}
		fmt.Fprintf(b, "; %s, %s", operator, textformat.Plural(r.Columns, "column"))
		if kind := spec.Side.PlaceboOf(r.Mode); kind != "" {
			fmt.Fprintf(b, ", replaced by %s (placebo)", kind)
		}
		var columns []string
		for i, c := range r.Table.Columns {
			if more := len(r.Table.Columns) - i; i == maxSideColumns && more > 1 {
				columns = append(columns, fmt.Sprintf("and %s more; --json lists all", textformat.Count(more)))
				break
			}
			columns = append(columns, sideColumn(c))
		}
		fmt.Fprintf(b, "\n      %s\n", strings.Join(columns, ", "))
		if len(r.Groups) > 0 {
			fmt.Fprintf(b, "      %s\n", sideGroups(r.Groups))
		}
		var learned []string
		for _, l := range r.Learned {
			learned = append(learned, fmt.Sprintf("%s %.3g -> %.3g", l.Name, l.Start, l.End))
		}
		if learned != nil {
			fmt.Fprintf(b, "      learned: %s\n", strings.Join(learned, ", "))
		}
		writeNotes(b, r.Notices)
	}
}

func writeNotes(b *strings.Builder, notices []string) {
	for _, n := range notices {
		fmt.Fprintf(b, "      note: %s\n", n)
	}
}

// sideGroups describes the columns that terms use as modes.
func sideGroups(reports []sideinfo.GroupReport) string {
	var columns []string
	for _, r := range reports {
		text := fmt.Sprintf("%s (%s", r.Column, textformat.Plural(r.Levels, "level"))
		if r.Missing > 0 {
			text += fmt.Sprintf(", %s missing", textformat.Count(r.Missing))
		}
		columns = append(columns, text+")")
	}
	if columns == nil {
		return "no term uses its groups"
	}
	return "groups by " + strings.Join(columns, ", ")
}

// sideRows counts ids with and without a row, and rows without an id.
func sideRows(t sideinfo.Report) string {
	text := fmt.Sprintf("%s of %s with a row", textformat.Count(t.Matched), textformat.Plural(t.Entities, "id"))
	if t.Unmatched > 0 {
		text += fmt.Sprintf(", %s without", textformat.Count(t.Unmatched))
	}
	if t.ExtraRows > 0 {
		text += fmt.Sprintf(", %s without an id in the data", textformat.Plural(t.ExtraRows, "row"))
	}
	return text
}

// sideColumn describes the type of a column.
func sideColumn(c sideinfo.ColumnReport) string {
	if c.Constant {
		return c.Name + " left out (constant)"
	}
	text := fmt.Sprintf("%s %s", c.Name, c.Type)
	var more []string
	if c.Guessed {
		more = append(more, "guessed")
	}
	if c.Levels > 0 {
		more = append(more, textformat.Plural(c.Levels, "level"))
	}
	if c.Pooled > 0 {
		more = append(more, fmt.Sprintf("%s rare", textformat.Count(c.Pooled)))
	}
	if c.Hashed > 0 {
		more = append(more, fmt.Sprintf("%s hashed", textformat.Count(c.Hashed)))
	}
	if c.Missing > 0 {
		more = append(more, fmt.Sprintf("%s missing", textformat.Count(c.Missing)))
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	return text
}

// WriteUnseen counts, by mode, the rows whose id is not in the training data, and
// writes how they were predicted, and which columns were assumed.
func WriteUnseen(b *strings.Builder, m *kft.Model, sum kft.Summary, marked string) {
	for _, name := range sum.Assumed {
		fmt.Fprintf(b, "note: the table has no column %s, which the model was fitted with; its values are taken as 1\n", name)
	}
	for _, renamed := range sum.Renamed {
		name, added, _ := strings.Cut(renamed, ": ")
		fmt.Fprintf(b, "note: the added column %s is called %s, because the table of the model has a column %s\n", name, added, name)
	}
	for i, mode := range m.Modes() {
		if n := sum.Side[i]; n > 0 && mode.Smooth() {
			fmt.Fprintf(b, "%s with values of %s beyond the range of the fit%s\n", textformat.Plural(n, "row"), mode.Name, marked)
		} else if n > 0 {
			from := "its side information"
			if alongSeries(m.Spec(), mode.Name) {
				from = "the series along it"
			}
			fmt.Fprintf(b, "%s with an unseen %s, predicted from %s%s\n", textformat.Plural(n, "row"), mode.Name, from, marked)
		}
		if n := sum.Unseen[i]; n > 0 {
			fmt.Fprintf(b, "%s with an unseen %s, predicted by the prior%s\n", textformat.Plural(n, "row"), mode.Name, marked)
		}
	}
}

// WriteUnusedSide names the tables of --side that no row used.
func WriteUnusedSide(b *strings.Builder, m *kft.Model, sum kft.Summary, tables []string) {
	for _, text := range tables {
		t, err := sideinfo.ParseSpec(text)
		if err != nil {
			continue // reported before
		}
		for i, mode := range m.Modes() {
			if mode.Name == t.Mode && sum.Side[i] == 0 {
				fmt.Fprintf(b, "no row used %s: every %s has training data or is not in that table\n", t.File, mode.Name)
			}
		}
	}
}

// alongSeries reports whether a specification has a series term along a mode.
func alongSeries(s kft.Spec, mode string) bool {
	parsed, err := s.ParseTerms()
	return err == nil && slices.ContainsFunc(parsed, func(t terms.Term) bool { return t.IsSeries() && t.Series.Time == mode })
}
