package spec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// AddCovariates turns the short forms covariates, lags and history into modes, and moves covariates
// behind the modes that identify a cell, those that are computed from the training rows to the end.
// It adds the mode of several targets. Without modes, which may still be guessed, it does nothing.
func (d *Data) AddCovariates() {
	if len(d.Modes) == 0 {
		return
	}
	modes := slices.Clone(d.Modes)
	for _, column := range d.NamedCovariates() {
		if m, err := dataset.ParseMode(column); err == nil && m.Func == "" && len(m.Columns) == 1 {
			column = m.AsCovariate().String()
		}
		modes = append(modes, column)
	}
	for _, lag := range d.Lags {
		modes = append(modes, "lag("+lag+")")
	}
	for i, core := range d.History {
		mode := "periods(" + strings.ReplaceAll(core, "*", "+") + ")"
		if i > 0 {
			mode = "periods" + strconv.Itoa(i+1) + "=" + mode
		}
		modes = append(modes, mode)
	}
	slices.SortStableFunc(modes, func(a, b string) int { return modeRank(a) - modeRank(b) })
	d.Modes, d.Covariates, d.Lags, d.History = modes, nil, nil, nil
	d.addTargetMode()
}

// noCovariates in place of a column says that no column is a covariate, not even one that would be guessed.
const noCovariates = "none"

// Undescribed reports whether no column may be a covariate.
func (d Data) Undescribed() bool { return len(d.Covariates) == 1 && d.Covariates[0] == noCovariates }

// NamedCovariates returns the columns that are covariates.
func (d Data) NamedCovariates() []string {
	if d.Undescribed() {
		return nil
	}
	return d.Covariates
}

// UsedCovariates returns those of some columns that terms can use: all, unless the terms are given.
func (s Spec) UsedCovariates(columns []string) []string {
	if len(s.Terms) == 0 || slices.Equal(s.Terms, []string{Auto}) {
		return columns
	}
	names := s.ModeNames()
	for _, column := range columns {
		names = append(names, modeName(column))
	}
	var used []string
	for _, text := range s.Terms {
		if t, err := ParseTerm(text, names); err == nil {
			used = append(used, slices.Concat(t.Cores...)...)
		}
	}
	return slices.DeleteFunc(slices.Clone(columns), func(column string) bool { return !slices.Contains(used, modeName(column)) })
}

// modeRank orders modes: those that identify a cell, columns that describe it, points that these form, and what
// is computed from the training rows.
func modeRank(text string) int {
	m, err := dataset.ParseMode(text)
	switch {
	case err != nil || !m.Covariate():
		return 0
	case m.Joint():
		return 2
	case m.Derived():
		return 3
	}
	return 1
}

// CellModes returns the number of modes that identify a cell. They come first.
func (s Spec) CellModes() int {
	n := 0
	for _, text := range s.Data.Modes {
		if modeRank(text) == 0 {
			n++
		}
	}
	return n
}

// OwnEnds reports whether series may have their own ends: what depends on rows before the end of
// the table, such as lags, does not know those of a series.
func (d Data) OwnEnds() bool { return d.Ends != "table" && d.oneEnd() == "" }

// oneEnd says why all series must end with the table, "" if they need not.
func (d Data) oneEnd() string {
	switch {
	case d.Absent == "zero":
		return "cells without a row are zeros up to the end of the table, so series have no ends of their own"
	case len(d.Targets()) > 1:
		return "several targets are not split by the ends of their series"
	}
	for _, text := range d.Modes {
		if m, err := dataset.ParseMode(text); err == nil && m.Derived() {
			return m.Expression() + " is computed from the rows before the end of the table"
		}
	}
	return ""
}

// validateCovariates reports covariates that cannot be computed.
func (d Data) validateCovariates(ps *Problems) {
	oneOf(ps, "data.absent", d.Absent, "unknown", "zero")
	oneOf(ps, "data.ends", d.Ends, "", "auto", "table", "series")
	if d.Ends == "series" {
		if problem := d.oneEnd(); problem != "" {
			ps.Addf("data.ends", "%s; set data.ends to table", problem)
		}
	}
	var cells, numbers, derived []string
	for _, text := range d.Modes {
		m, err := dataset.ParseMode(text)
		switch {
		case err != nil || !m.Covariate():
			cells = append(cells, modeName(text))
		case m.Open() || m.Numeric() && !m.Derived():
			numbers = append(numbers, modeName(text))
		case m.Derived():
			derived = append(derived, modeName(text))
		}
	}
	for i, text := range d.Modes {
		m, err := dataset.ParseMode(text)
		if err == nil && m.Joint() {
			for k, name := range m.Columns {
				switch {
				case slices.Contains(m.Columns[:k], name):
					ps.Addf(index("data.modes", i), "%s names %s twice; name each number once", m.Expression(), name)
				case slices.Contains(numbers, name):
				case slices.Contains(derived, name):
					ps.Addf(index("data.modes", i), "%s: %s is computed from the training rows, and points are formed by columns of the table; leave it out here and add the term %s, a curve of its own", m.Expression(), name, name)
				default:
					ps.Addf(index("data.modes", i), "%s: no covariate of numbers is called %q%s; its points are formed by covariates, so add number(%s)", m.Expression(), name, hintOrList(name, numbers), name)
				}
			}
		}
		if err != nil || !m.Derived() || m.Lag() > 0 {
			continue
		}
		for _, name := range m.Columns {
			if !slices.Contains(cells, name) {
				ps.Addf(index("data.modes", i), "%s: unknown mode %q%s", m.Expression(), name, hintOrList(name, cells))
			}
		}
		if len(m.Columns) >= len(cells) {
			ps.Addf(index("data.modes", i), "%s names all modes, so each combination has one period at most; leave out the time", m.Expression())
		}
	}
	if len(d.Modes) > 0 && len(cells) == 0 && d.Duplicates != "keep" {
		ps.Addf("data.modes", "all modes are covariates, so no mode identifies a cell; name columns of ids, such as store, item, time=year+month, or keep the rows as records by data.duplicates keep")
	}
}
