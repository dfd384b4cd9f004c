package spec

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/predictive"
)

// Validate lists, as Problems, all that is wrong with a filled specification.
// It needs no data: columns are looked for when the table is read. There need
// not be files, for a table may be handed over in memory.
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
	oneOf(&ps, "transform", s.Transform, append(predictive.Transforms(), "auto")...)
	s.validateTerms(&ps)
	s.validateSide(&ps)
	s.validateUncertainty(&ps)
	s.Fit.validate(&ps)
	if s.Seed == 0 {
		ps.Addf("seed", "must be 1 or more")
	}
	return ps.Err()
}

func wrongVersion(got string) string {
	if v, err := strconv.Atoi(got); err == nil && v > Version {
		return got + " was made for a newer kft; this one reads version " + strconv.Itoa(Version)
	}
	return strconv.Quote(got) + " is not a version; write version: " + strconv.Itoa(Version)
}

// validateText refuses text that no file could hold: a Spec made in a program
// may carry any bytes.
func (s Spec) validateText(ps *Problems) {
	for path, text := range s.texts() {
		if !utf8.ValidString(text) {
			ps.Addf(path, "%q is not valid UTF-8", text)
		}
	}
}

func (d Data) validate(ps *Problems) {
	for i, f := range d.Files {
		if f == "" {
			ps.Addf(index("data.files", i), "the name is empty")
		}
	}
	if d.Target == "" {
		ps.Addf("data.target", "none given; name the column to predict")
	} else if d.Weight == d.Target {
		ps.Addf("data.weight", "column %q is the target already", d.Weight)
	}
	if len(d.Modes) == 0 {
		ps.Addf("data.modes", "none given; name the columns that make up a cell, such as store, item, time=year+month")
	}
	first := map[string]int{}
	for i, text := range d.Modes {
		path := index("data.modes", i)
		mode, err := dataset.ParseMode(text)
		if err != nil {
			ps.Addf(path, "%v", err)
			continue
		}
		if slices.Contains(mode.Columns, d.Target) {
			ps.Addf(path, "column %q is the target already", d.Target)
		}
		if j, again := first[mode.Name]; again {
			ps.Addf(path, "the name %q is that of data.modes[%d] already; name one of them, as in other=%s", mode.Name, j, text)
			continue
		}
		first[mode.Name] = i
	}
	if _, err := delimited.ParseDelimiter(d.Delimiter); err != nil {
		ps.Addf("data.delimiter", "%v", err)
	}
	oneOf(ps, "data.header", d.Header, "auto", "yes", "no")
	oneOf(ps, "data.duplicates", d.Duplicates, dataset.DuplicateRules()...)
}

func (s Spec) validateTerms(ps *Problems) {
	if len(s.Terms) == 0 && len(s.Data.Modes) > 0 {
		ps.Addf("terms", "none given; write at least one, such as %s", DefaultTerm(s.ModeNames(), DefaultRank))
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
			ps.Addf(index("terms", i), "%s is terms[%d] already; a higher rank there says more", t, j)
			continue
		}
		first[t.String()] = i
	}
}

func (f Fit) validate(ps *Problems) {
	oneOf(ps, "fit.solver", f.Solver, "als", "adam", "cavi")
	oneOf(ps, "fit.ridge", f.Ridge, "auto", "uniform", "frequency")
	for _, c := range []struct {
		path  string
		value int
	}{
		{"fit.sweeps", f.Sweeps}, {"fit.patience", f.Patience}, {"fit.cg-steps", f.CGSteps}, {"fit.epochs", f.Epochs},
	} {
		if c.value < 1 {
			ps.Addf(c.path, "%d must be 1 or more", c.value)
		}
	}
	if !(f.LearningRate > 0) || math.IsInf(f.LearningRate, 1) {
		ps.Addf("fit.learning-rate", "%v is not a number above 0", f.LearningRate)
	}
	if !(f.Batch >= 0.01 && f.Batch <= 1) {
		ps.Addf("fit.batch", "%v is not a share from 0.01 to 1", f.Batch)
	}
	oneOf(ps, "fit.schedule", f.Schedule, "joint", "block")
}

// oneOf refuses a value that is not among those allowed.
func oneOf(ps *Problems, path, value string, allowed ...string) {
	if slices.Contains(allowed, value) {
		return
	}
	last := len(allowed) - 1
	ps.Addf(path, "%q is not known; use %s or %s%s", value,
		strings.Join(allowed[:last], ", "), allowed[last], suggest.Hint(value, allowed))
}
