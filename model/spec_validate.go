package model

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kernel-fried-tensor/kft/internal/nearest"
)

// Validate lists, as Problems, all that is wrong with a filled specification.
// It needs no data; the split and the columns are checked against the table
// when that is read, and so is that there are files where none are handed over.
func (s Spec) Validate() error {
	var ps Problems
	if s.Version != Version {
		ps.addf("version", "%s", wrongVersion(strconv.Itoa(s.Version)))
	}
	s.validateText(&ps)
	s.Data.validate(&ps)
	if s.Split == "" {
		ps.addf("split", "none given; write random:60/20/20, say")
	}
	oneOf(&ps, "transform", s.Transform, "identity", "log1p", "sqrt")
	s.validateTerms(&ps)
	s.Fit.validate(&ps)
	if s.Seed == 0 {
		ps.addf("seed", "must be 1 or more")
	}
	return ps.err()
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
			ps.addf(path, "%q is not valid UTF-8", text)
		}
	}
}

func (d DataSpec) validate(ps *Problems) {
	for i, f := range d.Files {
		if f == "" {
			ps.addf(index("data.files", i), "the name is empty")
		}
	}
	if d.Target == "" {
		ps.addf("data.target", "none given; name the column to predict")
	} else if d.Weight == d.Target {
		ps.addf("data.weight", "column %q is the target already", d.Weight)
	}
	if len(d.Modes) == 0 {
		ps.addf("data.modes", "none given; name the columns that make up a cell, such as store, item, time=year+month")
	}
	first := map[string]int{}
	for i, mode := range d.Modes {
		path, name := index("data.modes", i), modeName(mode)
		_, columns, named := strings.Cut(mode, "=")
		switch {
		case name == "":
			ps.addf(path, "%q has no name", mode)
			continue
		case strings.ContainsAny(name, ",*:"):
			ps.addf(path, "name %q has one of , * : which terms give a meaning; give it another, such as %s=%s",
				name, plainName(name), name)
		case named && strings.TrimSpace(columns) == "":
			ps.addf(path, "%q names no column after the equals sign", mode)
		case !named && name == d.Target || strings.TrimSpace(columns) == d.Target && d.Target != "":
			ps.addf(path, "column %q is the target already", d.Target)
		}
		if j, again := first[name]; again {
			ps.addf(path, "mode %q is data.modes[%d] already", name, j)
			continue
		}
		first[name] = i
	}
	if utf8.RuneCountInString(d.Delimiter) != 1 {
		oneOf(ps, "data.delimiter", d.Delimiter, "auto", "comma", "tab", "semicolon", "pipe")
	} else if strings.ContainsAny(d.Delimiter, "\"\r\n") || d.Delimiter[0] >= utf8.RuneSelf {
		ps.addf("data.delimiter", "%q cannot separate fields; use one ASCII character that is neither a quote nor the end of a line", d.Delimiter)
	}
	oneOf(ps, "data.header", d.Header, "auto", "yes", "no")
	oneOf(ps, "data.duplicates", d.Duplicates, "error", "sum", "mean", "last")
}

// plainName is name without the characters that terms give a meaning.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(",*: ", r) {
			return '_'
		}
		return r
	}, name)
}

func (s Spec) validateTerms(ps *Problems) {
	if len(s.Terms) == 0 && len(s.Data.Modes) > 0 {
		ps.addf("terms", "none given; write at least one, such as %s", DefaultTerm(s.ModeNames(), DefaultRank))
	}
	modes := s.ModeNames()
	first := map[string]int{}
	for i, text := range s.Terms {
		t, err := ParseTerm(text, modes)
		if err != nil {
			ps.addf(index("terms", i), "%v", err)
			continue
		}
		if j, again := first[t.String()]; again {
			ps.addf(index("terms", i), "%s is terms[%d] already; a higher rank there says more", t, j)
			continue
		}
		first[t.String()] = i
	}
}

func (f FitSpec) validate(ps *Problems) {
	oneOf(ps, "fit.solver", f.Solver, "als", "adam")
	oneOf(ps, "fit.ridge", f.Ridge, "auto", "uniform", "frequency")
	for _, c := range []struct {
		path  string
		value int
	}{
		{"fit.sweeps", f.Sweeps}, {"fit.patience", f.Patience}, {"fit.cgsteps", f.CGSteps}, {"fit.epochs", f.Epochs},
	} {
		if c.value < 1 {
			ps.addf(c.path, "%d must be 1 or more", c.value)
		}
	}
	if !(f.Rate > 0) || math.IsInf(f.Rate, 1) {
		ps.addf("fit.rate", "%v is not a number above 0", f.Rate)
	}
	if !(f.Batch >= 0.01 && f.Batch <= 1) {
		ps.addf("fit.batch", "%v is not a share from 0.01 to 1", f.Batch)
	}
	oneOf(ps, "fit.schedule", f.Schedule, "joint", "block")
}

// oneOf refuses a value that is not among those allowed.
func oneOf(ps *Problems, path, value string, allowed ...string) {
	if slices.Contains(allowed, value) {
		return
	}
	last := len(allowed) - 1
	ps.addf(path, "%q is not known; use %s or %s%s", value,
		strings.Join(allowed[:last], ", "), allowed[last], nearest.Hint(value, allowed))
}
