package spec

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A CoreLambda is the weight of the penalty of the cores over some modes.
type CoreLambda struct {
	Core  string // the mode, or the modes of a joint core: store*item
	Value float64
}

// Cores returns the weights of cores that have their own.
func (l Lambda) Cores() []CoreLambda {
	var cores []CoreLambda
	for text := range strings.SplitSeq(l.cores, ",") {
		if core, value, found := strings.Cut(text, "="); found {
			v, _ := strconv.ParseFloat(value, 64) // unmarshalCores checked it
			cores = append(cores, CoreLambda{core, v})
		}
	}
	return cores
}

// unmarshalCores reads a text with weights of cores.
func (l *Lambda) unmarshalCores(text string) error {
	parsed := Lambda{value: 1, given: true}
	var cores []string
	for i, part := range strings.Split(text, ",") {
		core, number, found := strings.Cut(strings.TrimSpace(part), "=")
		core = strings.TrimSpace(core)
		if !found && i == 0 {
			v, err := strconv.ParseFloat(core, 64)
			if err != nil || !(v > 0) || !validLambda(v) {
				return fmt.Errorf("%q is not a number above 0, the weight of the cores that are not listed", core)
			}
			parsed.value, parsed.rest = v, true
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if !found || core == "" || err != nil || !(v > 0) || math.IsInf(v, 1) {
			return fmt.Errorf("%q is not the weight of a core, such as item=0.1 with a number above 0", part)
		}
		if slices.ContainsFunc(cores, func(c string) bool { return strings.HasPrefix(c, core+"=") }) {
			return fmt.Errorf("core %q has two weights", core)
		}
		cores = append(cores, core+"="+strconv.FormatFloat(v, 'g', -1, 64))
	}
	parsed.cores = strings.Join(cores, ",")
	*l = parsed
	return nil
}

// validateLambda reports weights of cores that the terms do not have, and cores without a
// weight.
func (s Spec) validateLambda(ps *Problems) {
	own := s.Fit.Lambda.Cores()
	if len(own) == 0 {
		return
	}
	if s.Automatic() {
		ps.Addf("fit.lambda", "cores have weights, but the terms are chosen on the data; set terms, or one weight for all cores")
		return
	}
	terms, err := s.ParseTerms()
	if err != nil {
		return // reported with the terms
	}
	var names []string
	for _, t := range terms {
		if t.IsSeries() {
			continue
		}
		for _, core := range t.Cores {
			if name := strings.Join(core, "*"); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, c := range own {
		if !slices.Contains(names, c.Core) {
			ps.Addf("fit.lambda", "no core is called %q; the cores are %s", c.Core, strings.Join(names, ", "))
		}
	}
	for _, name := range names {
		if !s.Fit.Lambda.rest && !slices.ContainsFunc(own, func(c CoreLambda) bool { return c.Core == name }) {
			ps.Addf("fit.lambda", "core %s has no weight; add %s=X, or start with the number of all cores that are not listed", name, name)
		}
	}
	if s.Uncertainty.Bayesian() {
		ps.Addf("fit.lambda", "a posterior has no penalty, but cores have weights; set uncertainty.prior-variance, or uncertainty.inference to map")
	}
}
