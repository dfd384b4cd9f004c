package spec

import (
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/kernel"
	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// A Side specifies which side information the cores use, and how.
type Side struct {
	Tables       []string `yaml:"tables" json:"tables" doc:"one per mode: store=stores.csv:city:cat,lat,lon or time=@year,@month:cycle12"`
	Variant      string   `yaml:"variant" json:"variant" doc:"plain, side, wlr, ls or additive; @variant after a term overrides it"`
	Space        string   `yaml:"space" json:"space" doc:"primal, primal-rff, dual, dual-rff or dual-unwhitened"`
	Kernels      []string `yaml:"kernels" json:"kernels" doc:"rbf, matern12, matern32, matern52, periodic:12, sums and products; time=... for one mode"`
	Columns      int      `yaml:"columns" json:"columns" doc:"number of columns of a kernel operator, or of random features"`
	Intercept    string   `yaml:"intercept" json:"intercept" doc:"yes or no"`
	LengthScales string   `yaml:"length-scales" json:"length-scales" doc:"fixed (at the median distance) or learn"`
	Placebo      string   `yaml:"placebo" json:"placebo" doc:"control: constant or noise in place of all tables, or of one mode: noise:store"`
}

// fill sets defaults. With tables the default variant is wlr, unless terms are automatic,
// and the default kernel matern32, unless all columns are groups.
func (s *Side) fill(d Side) {
	if s.Regresses() {
		if d.Variant != Auto {
			d.Variant = "wlr"
		}
		if len(s.Kernels) == 0 {
			s.Kernels = []string{"matern32"}
		}
	}
	fill(&s.Variant, d.Variant)
	fill(&s.Space, d.Space)
	fill(&s.Columns, d.Columns)
	fill(&s.Intercept, d.Intercept)
	s.Intercept = yesNo(s.Intercept)
	fill(&s.LengthScales, d.LengthScales)
}

// Variants returns the ways in which a term can use side information.
func Variants() []string { return []string{"plain", "side", "wlr", "ls", "additive"} }

// SideTables parses the side tables, in order. Each belongs to one mode. A table and
// columns computed from the ids of the same mode are one.
func (s Spec) SideTables() ([]sideinfo.Spec, error) {
	var tables []sideinfo.Spec
	for i, text := range s.Side.Tables {
		t, err := sideinfo.ParseSpec(text)
		if err != nil {
			return nil, problemf(index("side.tables", i), "%v", err)
		}
		if at := slices.IndexFunc(tables, func(o sideinfo.Spec) bool { return o.Mode == t.Mode }); at >= 0 {
			if tables[at], err = sideinfo.Combine(tables[at], t); err != nil {
				return nil, problemf(index("side.tables", i), "%v", err)
			}
			continue
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// KernelOf returns the kernel of a mode: its own, or the one for all modes.
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

// PlaceboOf returns the kind of placebo in place of a mode's side information, "" for
// none.
func (s Side) PlaceboOf(mode string) string {
	kind, only, named := strings.Cut(s.Placebo, ":")
	if named && only != mode {
		return ""
	}
	return kind
}

// Dual reports whether the space is a dual one, in which the kernel defines the penalty.
func (s Side) Dual() bool { return strings.HasPrefix(s.Space, "dual") }

func (s Spec) validateSide(ps *Problems) {
	modes := s.ModeNames()
	first, combined, regressed := map[string]int{}, map[string]bool{}, map[string]int{} // modes with a table; with two; with one for a regression
	for i, text := range s.Side.Tables {
		path := index("side.tables", i)
		t, err := sideinfo.ParseSpec(text)
		if err != nil {
			ps.Addf(path, "%v", err)
			continue
		}
		knownMode(ps, path, t.Mode, modes)
		if at := slices.Index(modes, t.Mode); at >= 0 {
			if m, err := dataset.ParseMode(s.Data.Modes[at]); err == nil && (m.Smooth() || m.Open()) {
				ps.Addf(path, "%s is a covariate, and one of numbers has no side table; if it has levels, write it as level(%s)", t.Mode, t.Mode)
			}
		}
		if !t.OnlyGroups() {
			regressed[t.Mode] = i
		}
		j, again := first[t.Mode]
		if !again {
			first[t.Mode] = i
			continue
		}
		other, _ := sideinfo.ParseSpec(s.Side.Tables[j]) // parsed before
		if _, err := sideinfo.Combine(other, t); err != nil || combined[t.Mode] {
			ps.Addf(path, "mode %q already has the side table %s; join the two into one", t.Mode, s.Side.Tables[j])
		}
		combined[t.Mode] = true
	}
	variants := Variants()
	if s.Automatic() {
		variants = append(variants, Auto)
	}
	oneOf(ps, "side.variant", s.Side.Variant, variants...)
	oneOf(ps, "side.space", s.Side.Space, sideinfo.Spaces()...)
	oneOf(ps, "side.intercept", s.Side.Intercept, "yes", "no")
	oneOf(ps, "side.length-scales", s.Side.LengthScales, "fixed", "learn")
	for i, text := range s.Side.Kernels {
		path := index("side.kernels", i)
		if name, k, named := strings.Cut(text, "="); named {
			knownMode(ps, path, name, modes)
			text = k
		}
		if _, err := kernel.Parse(text); err != nil {
			ps.Addf(path, "%v", err)
		}
	}
	if s.Side.Columns < 1 {
		ps.Addf("side.columns", "must be 1 or more")
	}
	s.validatePlacebo(ps, regressed)
	if !s.Side.Regresses() && slices.Contains(Variants(), s.Side.Variant) && s.Side.Variant != "plain" {
		ps.Addf("side.variant", "%s requires side information; set side.tables, such as store=stores.csv", s.Side.Variant)
	}
}

// validatePlacebo checks the placebo, given the modes that have side tables.
func (s Spec) validatePlacebo(ps *Problems, tables map[string]int) {
	if s.Side.Placebo == "" {
		return
	}
	kind, mode, named := strings.Cut(s.Side.Placebo, ":")
	if !slices.Contains(sideinfo.PlaceboKinds(), kind) {
		ps.Addf("side.placebo", "%q is neither constant nor noise%s", kind, suggest.Hint(kind, sideinfo.PlaceboKinds()))
	}
	modes := s.ModeNames()
	_, described := tables[mode]
	switch {
	case named && slices.Contains(modes, mode) && !described:
		ps.Addf("side.placebo", "mode %q has no side table to replace", mode)
	case named:
		knownMode(ps, "side.placebo", mode, modes)
	case len(tables) == 0:
		ps.Addf("side.placebo", "there is no side table to replace; set side.tables, such as store=stores.csv")
	}
}
