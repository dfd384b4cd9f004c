package spec

import (
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/kernel"
	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// Variants are the ways a term uses side information.
func Variants() []string { return []string{"plain", "side", "wlr", "ls", "additive"} }

// SideTables parses the side tables, one a mode, in their order.
func (s Spec) SideTables() ([]sideinfo.Spec, error) {
	var tables []sideinfo.Spec
	for i, text := range s.Side.Tables {
		t, err := sideinfo.ParseSpec(text)
		if err != nil {
			return nil, problemf(index("side.tables", i), "%v", err)
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// KernelOf returns the kernel of a mode: its own, or the one without a mode.
func (s Side) KernelOf(mode string) string {
	found := "matern32"
	for _, text := range s.Kernels {
		if name, k, named := strings.Cut(text, "="); !named {
			found = text
		} else if name == mode {
			return k
		}
	}
	return found
}

// PlaceboOf returns what a mode's side information is replaced by, "" for
// nothing.
func (s Side) PlaceboOf(mode string) string {
	kind, only, named := strings.Cut(s.Placebo, ":")
	if named && only != mode {
		return ""
	}
	return kind
}

// Dual tells whether the space is one of kernels, whose penalty is theirs.
func (s Side) Dual() bool { return strings.HasPrefix(s.Space, "dual") }

func (s Spec) validateSide(ps *Problems) {
	modes := s.ModeNames()
	known := func(path, mode string) {
		if !slices.Contains(modes, mode) {
			ps.Addf(path, "mode %q is not among the modes%s", mode, hintOrList(mode, modes))
		}
	}
	first := map[string]int{}
	for i, text := range s.Side.Tables {
		path := index("side.tables", i)
		t, err := sideinfo.ParseSpec(text)
		if err != nil {
			ps.Addf(path, "%v", err)
			continue
		}
		known(path, t.Mode)
		if j, again := first[t.Mode]; again {
			ps.Addf(path, "mode %q has a side table already, %s; join the two into one", t.Mode, s.Side.Tables[j])
		}
		first[t.Mode] = i
	}
	oneOf(ps, "side.variant", s.Side.Variant, Variants()...)
	oneOf(ps, "side.space", s.Side.Space, sideinfo.Spaces()...)
	oneOf(ps, "side.intercept", s.Side.Intercept, "yes", "no")
	oneOf(ps, "side.length-scales", s.Side.LengthScales, "fixed", "learn")
	for i, text := range s.Side.Kernels {
		path := index("side.kernels", i)
		if name, k, named := strings.Cut(text, "="); named {
			known(path, name)
			text = k
		}
		if _, err := kernel.Parse(text); err != nil {
			ps.Addf(path, "%v", err)
		}
	}
	if s.Side.Columns < 1 {
		ps.Addf("side.columns", "must be 1 or more")
	}
	if kind, mode, named := strings.Cut(s.Side.Placebo, ":"); s.Side.Placebo != "" {
		if !slices.Contains(sideinfo.PlaceboKinds(), kind) {
			ps.Addf("side.placebo", "%q is neither constant nor noise%s", kind, suggest.Hint(kind, sideinfo.PlaceboKinds()))
		}
		_, described := first[mode]
		switch {
		case named && slices.Contains(modes, mode) && !described:
			ps.Addf("side.placebo", "mode %q has no side table to replace", mode)
		case named:
			known("side.placebo", mode)
		case len(first) == 0:
			ps.Addf("side.placebo", "there is no side table to replace; give side.tables, such as store=stores.csv")
		}
	}
	if len(s.Side.Tables) > 0 || !slices.Contains(Variants(), s.Side.Variant) {
		return
	}
	if s.Side.Variant != "plain" {
		ps.Addf("side.variant", "%s needs side information; give side.tables, such as store=stores.csv", s.Side.Variant)
	}
}
