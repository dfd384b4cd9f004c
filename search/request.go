package search

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tune"
)

// parametersOf returns the parameters that a search of the specification varies: the
// derived ones, and those that its section search requests.
func parametersOf(given spec.Spec) ([]parameter, error) {
	given.Fill()
	table, err := allParameters(given)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, k := range table {
		names = append(names, k.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(given.Search)) {
		if !slices.Contains(names, name) {
			return nil, searchProblem(name, fmt.Sprintf("unknown parameter%s; this specification has %s", suggest.Hint(name, names), strings.Join(names, ", ")))
		}
	}
	var all []parameter
	for _, k := range table {
		values, requested := given.Search[k.Name]
		switch {
		case !requested && !k.varied, requested && slices.Equal(values, []string{"fixed"}):
			continue
		case requested:
			if k.Param, err = k.request(values); err == nil {
				err = k.check(given)
			}
			if err != nil {
				return nil, searchProblem(k.Name, err.Error())
			}
		}
		all = append(all, k)
	}
	return all, nil
}

func searchProblem(name, message string) error {
	return spec.Problems{{Path: "search." + name, Message: message}}
}

// request returns the parameter with the requested range or choices.
func (k parameter) request(values []string) (tune.Param, error) {
	p := tune.Param{Name: k.Name, Kind: tune.Choice}
	if low, high, isRange := strings.Cut(values[0], ".."); isRange && len(values) == 1 {
		var err error
		if p.Low, err = k.number(low); err != nil {
			return p, err
		}
		if p.High, err = k.number(high); err != nil {
			return p, err
		}
		p.Kind = k.Kind
		switch {
		case k.Kind == tune.LogInteger && p.Low < 1:
			p.Kind = tune.Integer
		case k.Kind == tune.LogUniform && p.Low <= 0:
			p.Kind = tune.Uniform
		}
		return p, tune.Space{p}.Validate()
	}
	for _, text := range values {
		if k.closed && !slices.Contains(k.Choices, text) {
			return p, fmt.Errorf("%q is neither %s", text, strings.Join(k.Choices, " nor "))
		}
		if k.Kind != tune.Choice {
			v, err := k.number(text)
			if err != nil {
				return p, err
			}
			text = strconv.FormatFloat(v, 'f', -1, 64)
		}
		p.Choices = append(p.Choices, text)
	}
	return p, tune.Space{p}.Validate()
}

// number reads a value of a numeric parameter.
func (k parameter) number(text string) (float64, error) {
	if k.Kind == tune.Choice {
		return 0, fmt.Errorf("this parameter has choices, not a range; list values in [ ], such as %s", strings.Join(k.Choices, ", "))
	}
	text = strings.TrimSpace(text)
	if k.Kind == tune.LogInteger {
		v, err := strconv.Atoi(text)
		if err != nil {
			return 0, fmt.Errorf("%q is not a whole number", text)
		}
		return float64(v), nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 1) {
		return 0, fmt.Errorf("%q is not a number, 0 or more", text)
	}
	return v, nil
}

// check validates the specification with every choice, or with both ends of the
// range.
func (k parameter) check(given spec.Spec) error {
	values := k.Choices
	if k.Kind != tune.Choice {
		values = []string{strconv.FormatFloat(k.Low, 'f', -1, 64), strconv.FormatFloat(k.High, 'f', -1, 64)}
	}
	for _, v := range values {
		if err := apply(given, []parameter{k}, tune.Values{k.Name: v}).Validate(); err != nil {
			return fmt.Errorf("%s: %w", v, err)
		}
	}
	return nil
}

// apply returns the specification with values; the one given stays unchanged.
func apply(given spec.Spec, all []parameter, v tune.Values) spec.Spec {
	s := given.Clone()
	s.Fill()
	s.Search = nil
	for _, p := range all {
		p.set(&s, v[p.Name])
	}
	return s
}
