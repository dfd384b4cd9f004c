package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// A Group is a mode of a term that consists of groups of ids: the ids of Mode that have
// the same value in a column of its side table. It is written MODE.COLUMN, as in
// item.vendor.
type Group struct{ Mode, Column string }

func (g Group) String() string { return g.Mode + "." + g.Column }

// CutGroup resolves a name in a term: a mode, or a group of its ids by a column, which
// is "" for the mode itself. A mode whose name contains a dot has precedence, and of
// several modes the one with the longest name. The position is -1 if there is no such
// mode.
func CutGroup(name string, modes []string) (mode int, column string) {
	if at := slices.Index(modes, name); at >= 0 {
		return at, ""
	}
	mode = -1
	for at, m := range modes {
		rest, found := strings.CutPrefix(name, m+".")
		if found && rest != "" && (mode < 0 || len(m) > len(modes[mode])) {
			mode, column = at, rest
		}
	}
	return mode, column
}

// isModeOrGroup reports whether a name in a term is a mode or a group of one.
func isModeOrGroup(name string, modes []string) bool {
	at, _ := CutGroup(name, modes)
	return at >= 0
}

// Groups returns the groups that terms use, each once, in the order of their first
// appearance. Terms that cannot be parsed are left out.
func (s Spec) Groups() []Group {
	var groups []Group
	modes := s.ModeNames()
	for _, text := range s.Terms {
		t, err := ParseTerm(text, modes)
		if err != nil {
			continue
		}
		for _, g := range t.groups(modes) {
			if !slices.Contains(groups, g) {
				groups = append(groups, g)
			}
		}
	}
	return groups
}

// groups returns the groups of a term, given the modes of the table.
func (t Term) groups(modes []string) []Group {
	var groups []Group
	for _, core := range t.Cores {
		for _, name := range core {
			if at, column := CutGroup(name, modes); column != "" {
				groups = append(groups, Group{modes[at], column})
			}
		}
	}
	return groups
}

// redundant returns a mode of a core and a group of the same mode in that core, which
// changes nothing; "" for none.
func redundant(core, modes []string) (mode, group string) {
	for _, name := range core {
		at, column := CutGroup(name, modes)
		if column != "" && slices.Contains(core, modes[at]) {
			return modes[at], name
		}
	}
	return "", ""
}

// unknownName describes a name in a term that is no mode, nor a group of one.
func unknownName(name string, modes []string) string {
	if m, err := dataset.ParseMode(name); err == nil && m.Covariate() {
		return fmt.Sprintf("; terms name modes: add %s to data.covariates and write %s here", name, m.Name)
	}
	hint := suggest.Hint(name, modes)
	if before, column, dotted := strings.Cut(name, "."); dotted && hint == "" {
		if near := suggest.Nearest(before, modes); near != "" {
			hint = suggest.Hint(name, []string{near + "." + column})
		}
	}
	if hint == "" {
		hint = hintOrList(name, modes)
	}
	return hint
}

// Regresses reports whether a side table has columns other than groups, which cores
// regress on.
func (s Side) Regresses() bool {
	return slices.ContainsFunc(s.Tables, func(text string) bool {
		t, err := sideinfo.ParseSpec(text)
		return err != nil || !t.OnlyGroups()
	})
}

// validateGroups reports groups whose mode has no side table, unless their column can
// be computed from the ids. Whether a table has a column is known when it is read.
func (s Spec) validateGroups(ps *Problems) {
	modes := s.ModeNames()
	tables := map[string]sideinfo.Spec{}
	for _, text := range s.Side.Tables {
		if t, err := sideinfo.ParseSpec(text); err == nil {
			tables[t.Mode] = t
		}
	}
	for i, text := range s.Terms {
		t, err := ParseTerm(text, modes)
		if err != nil {
			continue // reported before
		}
		for _, g := range t.groups(modes) {
			table, has := tables[g.Mode]
			mode, err := dataset.ParseMode(s.Data.Modes[slices.Index(modes, g.Mode)])
			if has && !table.FromIDs() || err != nil || sideinfo.FromID(g.Column, mode) {
				continue
			}
			switch {
			case strings.HasPrefix(g.Column, dataset.DaysPrefix):
				ps.Addf(index("terms", i), "%s has %s", g, sideinfo.BadDays)
			case has:
				ps.Addf(index("terms", i), "%s: the side information of %s is computed from its ids, and %s cannot be; use a column of the mode or of a date, or give a side table", g, g.Mode, g.Column)
			default:
				ps.Addf(index("terms", i), "%s: mode %s has no side table with a column %s; set side.tables, such as %s=FILE:%s:group", g, g.Mode, g.Column, g.Mode, g.Column)
			}
		}
	}
}
