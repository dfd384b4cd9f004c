package spec

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Series says that a term is a Gaussian process along time for each combination of
// its modes. Its text form is
//
//	series = "series(" [ core ] ";" mode [ ";" part { "," part } ] ")"
//	part   = "walk" | "ar" | "drift" | "trend" | "season" [ "=" period ] | "scale"
//
// The core names the modes of the entities, the mode after it is time. Example: series(store*item;
// time) has one series per pair. Without a core, as in series(; time), all cells share one series.
// Parts are the components beside a constant level: walk, steps of the level that add up; ar,
// deviations that die out; drift, a straight line whose slope is shrunk to that of all series;
// trend, a damped slope; season, a yearly cycle (and a weekly or daily one, where the steps of time
// are that short), or one of the given number of steps; scale, a learned factor of all components
// of each series, for series that are not alike. Without parts the series has walk and ar.
type Series struct {
	Time    string
	Walk    bool
	AR      bool
	Drift   bool
	Trend   bool
	Season  bool      // the seasons of the calendar
	Periods []float64 // seasons with a given number of steps
	Scale   bool
}

// IsSeries reports whether the term is a series.
func (t Term) IsSeries() bool { return t.Series != nil }

// parseSeries parses the text between "series(" and ")".
func parseSeries(s string, modes []string) (Term, error) {
	inside, ok := strings.CutSuffix(strings.TrimSpace(s), ")")
	inside = strings.TrimPrefix(inside, "series(")
	fields := strings.Split(inside, ";")
	if !ok || len(fields) < 2 || len(fields) > 3 {
		return Term{}, fmt.Errorf("term %q: write a series as series(store*item; time), with the modes that have a series each and the mode of time", s)
	}
	if strings.ContainsAny(fields[0], ",:@") {
		return Term{}, fmt.Errorf("term %q: join the modes of a series by *, as in series(store*item; time)", s)
	}
	t := Term{Cores: [][]string{nil}}
	if core := strings.TrimSpace(fields[0]); core != "" {
		var err error
		if t, err = ParseTerm(core, modes); err != nil {
			return Term{}, err
		}
	}
	t.Series = &Series{Time: strings.TrimSpace(fields[1])}
	if t.Series.Time == "" || modes != nil && !slices.Contains(modes, t.Series.Time) {
		return Term{}, fmt.Errorf("unknown mode of time %q%s", t.Series.Time, hintOrList(t.Series.Time, modes))
	}
	for _, name := range t.Cores[0] {
		if at, _ := CutGroup(name, modes); name == t.Series.Time || at >= 0 && modes[at] == t.Series.Time {
			return Term{}, fmt.Errorf("term %q: %s is the mode of time; name the other modes before the semicolon", s, t.Series.Time)
		}
	}
	if len(fields) == 2 {
		t.Series.Walk, t.Series.AR = true, true
		return t, nil
	}
	for part := range strings.SplitSeq(fields[2], ",") {
		if err := t.Series.add(strings.TrimSpace(part)); err != nil {
			return Term{}, fmt.Errorf("term %q: %w", s, err)
		}
	}
	return t, nil
}

// maxPeriod is the largest period of a season in steps.
const maxPeriod = 1e6

func (r *Series) add(part string) error {
	name, period, hasPeriod := strings.Cut(part, "=")
	name = strings.TrimSpace(name)
	switch {
	case name == "walk" && !hasPeriod:
		r.Walk = true
	case name == "ar" && !hasPeriod:
		r.AR = true
	case name == "drift" && !hasPeriod:
		r.Drift = true
	case name == "trend" && !hasPeriod:
		r.Trend = true
	case name == "season" && !hasPeriod:
		r.Season = true
	case name == "scale" && !hasPeriod:
		r.Scale = true
	case name == "season":
		p, err := strconv.ParseFloat(strings.TrimSpace(period), 64)
		if err != nil || !(p >= 2 && p <= maxPeriod) {
			return fmt.Errorf("the period %q is not a number of steps from 2 to %g", period, maxPeriod)
		}
		if len(r.Periods) == maxPeriods {
			return fmt.Errorf("it has more than %d seasons", maxPeriods)
		}
		r.Periods = append(r.Periods, p)
	default:
		return fmt.Errorf("unknown part %q; use walk, ar, drift, trend, season, season=12 or scale", part)
	}
	return nil
}

// maxPeriods is the number of seasons whose period is given.
const maxPeriods = 2

var seasonPeriod = regexp.MustCompile(`season=[0-9]+\.[0-9]+`)

// ReadableTerms rounds the periods of seasons in the text of terms, for people:
// season=52.18 for season=52.17857142857143. ParseTerm reads other numbers from it.
func ReadableTerms(text string) string {
	return seasonPeriod.ReplaceAllStringFunc(text, func(part string) string {
		name, number, _ := strings.Cut(part, "=")
		period, _ := strconv.ParseFloat(number, 64)
		return name + "=" + strconv.FormatFloat(math.Round(100*period)/100, 'f', -1, 64)
	})
}

// text returns the part of the term's text after its modes.
func (r *Series) text() string {
	var parts []string
	for _, p := range []struct {
		has  bool
		name string
	}{{r.Walk, "walk"}, {r.AR, "ar"}, {r.Drift, "drift"}, {r.Trend, "trend"}, {r.Season, "season"}} {
		if p.has {
			parts = append(parts, p.name)
		}
	}
	for _, p := range r.Periods {
		parts = append(parts, "season="+strconv.FormatFloat(p, 'g', -1, 64))
	}
	if r.Scale {
		parts = append(parts, "scale")
	}
	if slices.Equal(parts, []string{"walk", "ar"}) {
		return "; " + r.Time
	}
	return "; " + r.Time + "; " + strings.Join(parts, ", ")
}
