package spec

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// Validate returns everything that is wrong with a filled specification, as Problems.
// It needs no data: columns are checked when the table is read. The specification may
// have no files, because a table can also be given in memory.
func (s Spec) Validate() error {
	var ps Problems
	if s.Version != Version {
		ps.Addf("version", "%s", wrongVersion(strconv.Itoa(s.Version)))
	}
	s.validateText(&ps)
	s.Data.validate(&ps)
	if _, err := split.Parse(s.Split); err != nil {
		ps.Addf("split", "%v", err)
	}
	s.validateTransform(&ps)
	s.validateTerms(&ps)
	oneOf(&ps, "order", s.Order, "given", "auto")
	s.validateSide(&ps)
	s.validateGroups(&ps)
	s.validateUncertainty(&ps)
	s.Fit.validate(&ps)
	s.validateLambda(&ps)
	if s.Seed == 0 {
		ps.Addf("seed", "must be 1 or more")
	}
	return ps.Err()
}

func wrongVersion(got string) string {
	if v, err := strconv.Atoi(got); err == nil && v > Version {
		return got + " requires a newer kft; this one reads version " + strconv.Itoa(Version)
	}
	return strconv.Quote(got) + " is not a version; write version: " + strconv.Itoa(Version)
}

// validateText reports text that YAML and JSON cannot hold. A Spec made in a program
// may contain any bytes.
func (s Spec) validateText(ps *Problems) {
	for path, text := range s.texts() {
		if !utf8.ValidString(text) {
			ps.Addf(path, "%q is not valid UTF-8", text)
		}
	}
}

func (s Spec) validateTerms(ps *Problems) {
	if s.Automatic() {
		return
	}
	if len(s.Terms) == 0 && len(s.Data.Modes) > 0 {
		ps.Addf("terms", "missing; write auto, or at least one term, such as %s", DefaultTerm(s.ModeNames(), 20))
	}
	modes := s.ModeNames()
	first := map[string]int{}
	for i, text := range s.Terms {
		t, err := ParseTerm(text, modes)
		if err != nil {
			ps.Addf(index("terms", i), "%v", err)
			continue
		}
		if j, again := first[t.String()]; again {
			ps.Addf(index("terms", i), "%s repeats terms[%d]; remove one, or raise the rank of the other", t, j)
			continue
		}
		first[t.String()] = i
		if t.IsSeries() && s.Fit.Solver == "adam" {
			ps.Addf(index("terms", i), "the solver adam has no series terms; set fit.solver to als or cavi, or leave the term out")
		}
		if t.Along != nil && s.Fit.Solver == "adam" {
			ps.Addf(index("terms", i), "the solver adam has no priors along time; set fit.solver to als or cavi, or write the core as %s", t.Along.Time)
		}
		if t.Along != nil && (t.Variant == "ls" || t.Variant == "" && s.Side.Variant == "ls") {
			ps.Addf(index("terms", i), "latent scaling has no core along time; write another variant after the term, as in %s@plain", Term{Cores: t.Cores, Ranks: t.Ranks, Along: t.Along})
		}
	}
}

// validateTransform reports an unknown scale, and reports whether it is known.
func (s Spec) validateTransform(ps *Problems) bool {
	if list := strings.Split(s.Transform, ","); len(list) > 1 && len(list) == len(s.Data.Targets()) {
		for _, s.Transform = range list {
			if !s.validateTransform(ps) {
				return false
			}
		}
		return true
	}
	if strings.HasPrefix(s.Transform, "power:") {
		_, err := targetscale.ParseTransform(s.Transform)
		if err != nil {
			ps.Addf("transform", "%v", err)
		}
		return err == nil
	}
	return oneOf(ps, "transform", s.Transform, append(targetscale.Transforms(), "power", "power:P", "auto")...)
}

// oneOf adds a problem if the value is not among those allowed, and reports whether it
// is.
func oneOf(ps *Problems, path, value string, allowed ...string) bool {
	if slices.Contains(allowed, value) {
		return true
	}
	last := len(allowed) - 1
	ps.Addf(path, "unknown value %q; use %s or %s%s", value,
		strings.Join(allowed[:last], ", "), allowed[last], suggest.Hint(value, allowed))
	return false
}

// knownMode reports a mode that the table does not have.
func knownMode(ps *Problems, path, mode string, modes []string) {
	if !slices.Contains(modes, mode) {
		ps.Addf(path, "unknown mode %q%s", mode, hintOrList(mode, modes))
	}
}
