package main

import (
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// withSide lets a model know the entities of the tables given by --side.
func withSide(e *env, m *kft.Model, tables []string) (*kft.Model, error) {
	if len(tables) == 0 {
		return m, nil
	}
	return m.WithSide(e.ctx, tables, map[string]kft.Source{"-": kft.Reader("standard input", e.stdin)})
}

// sideFiles names the files of side tables, as far as they can be read off.
func sideFiles(tables []string) []string {
	var files []string
	for _, text := range tables {
		if t, err := sideinfo.ParseSpec(text); err == nil && !t.FromIDs() {
			files = append(files, t.File)
		}
	}
	return files
}

// writeSide says of each side table how it met its mode, what its columns were
// taken for and what operator they made.
func writeSide(b *strings.Builder, reports []kft.SideReport, spec kft.Spec) {
	for _, r := range reports {
		fmt.Fprintf(b, "Side: %s: %s", r.Mode, sideRows(r.Table))
		operator := r.Space
		if r.Kernel != "" {
			operator += " by " + r.Kernel
		}
		fmt.Fprintf(b, "; %s, %s", operator, plural(r.Columns, "column"))
		if kind := spec.Side.PlaceboOf(r.Mode); kind != "" {
			fmt.Fprintf(b, ", replaced by %s", kind)
		}
		var columns []string
		for _, c := range r.Table.Columns {
			columns = append(columns, sideColumn(c))
		}
		fmt.Fprintf(b, "\n      %s\n", strings.Join(columns, ", "))
		var learned []string
		for _, l := range r.Learned {
			learned = append(learned, fmt.Sprintf("%s %.3g -> %.3g", l.Name, l.Start, l.End))
		}
		if learned != nil {
			fmt.Fprintf(b, "      learned: %s\n", strings.Join(learned, ", "))
		}
		for _, n := range r.Notices {
			fmt.Fprintf(b, "      note: %s\n", n)
		}
	}
}

// sideRows counts ids with and without a row, and rows without an id.
func sideRows(t sideinfo.Report) string {
	text := fmt.Sprintf("%s of %s described", count(t.Matched), plural(t.Entities, "id"))
	if t.Unmatched > 0 {
		text += fmt.Sprintf(", %s not", count(t.Unmatched))
	}
	if t.ExtraRows > 0 {
		text += fmt.Sprintf(", %s of no id in the data", plural(t.ExtraRows, "row"))
	}
	return text
}

// sideColumn says what a column was taken for.
func sideColumn(c sideinfo.ColumnReport) string {
	if c.Constant {
		return c.Name + " left out"
	}
	text := fmt.Sprintf("%s %s", c.Name, c.Type)
	var more []string
	if c.Guessed {
		more = append(more, "guessed")
	}
	if c.Levels > 0 {
		more = append(more, plural(c.Levels, "level"))
	}
	if c.Pooled > 0 {
		more = append(more, fmt.Sprintf("%s rare", count(c.Pooled)))
	}
	if c.Hashed > 0 {
		more = append(more, fmt.Sprintf("%s hashed", count(c.Hashed)))
	}
	if c.Missing > 0 {
		more = append(more, fmt.Sprintf("%s missing", count(c.Missing)))
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	return text
}

// writeSources says how many rows were predicted without training data of an id
// of theirs, and by what, mode by mode.
func writeSources(b *strings.Builder, m *kft.Model, sum kft.Summary, marked string) {
	for i, mode := range m.Modes() {
		if n := sum.Side[i]; n > 0 {
			fmt.Fprintf(b, "%s with %s not in the training data, predicted from its side row%s\n", plural(n, "row"), article(mode.Name), marked)
		}
		if n := sum.Unseen[i]; n > 0 {
			fmt.Fprintf(b, "%s with an unknown %s, predicted by the average%s\n", plural(n, "row"), mode.Name, marked)
		}
	}
}

// writeUnmatched says of which tables given by --side no row made use.
func writeUnmatched(b *strings.Builder, m *kft.Model, sum kft.Summary, tables []string) {
	for _, text := range tables {
		t, err := sideinfo.ParseSpec(text)
		if err != nil {
			continue // refused before
		}
		for i, mode := range m.Modes() {
			if mode.Name == t.Mode && sum.Side[i] == 0 {
				fmt.Fprintf(b, "0 rows made use of %s: their ids of %s have training data or are not in it\n", t.File, mode.Name)
			}
		}
	}
}

// article puts a or an before a name.
func article(name string) string {
	if name != "" && strings.ContainsRune("aeiouAEIOU", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}
