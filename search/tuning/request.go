package tuning

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

// parametersOf returns the parameters that a search of the specification varies: those
// that it varies by itself, and those that the section search requests.
func parametersOf(given spec.Spec) ([]parameter, error) {
	given.Fill()
	available, err := allParameters(given)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range available {
		names = append(names, p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(given.Search)) {
		if !slices.Contains(names, name) {
			return nil, searchProblem(name, fmt.Sprintf("unknown parameter%s; this specification has %s", suggest.Hint(name, names), strings.Join(names, ", ")))
		}
	}
	var varied []parameter
	for _, p := range available {
		values, requested := given.Search[p.Name]
		switch {
		case !requested && !p.varied, requested && slices.Equal(values, []string{"fixed"}):
			continue
		case requested:
			if p.Param, err = p.requested(values); err == nil {
				err = p.check(given)
			}
			if err != nil {
				return nil, searchProblem(p.Name, err.Error())
			}
		}
		varied = append(varied, p)
	}
	return varied, nil
}

// searchProblem returns a problem of a parameter in the section search.
func searchProblem(name, message string) error {
	return spec.Problems{{Path: "search." + name, Message: message}}
}

// requested returns the parameter with the values that the section search requests: one
// range low..high, or a list of choices. A range that includes 0 has no logarithmic
// scale.
func (p parameter) requested(values []string) (tune.Param, error) {
	out := tune.Param{Name: p.Name, Kind: tune.Choice}
	if low, high, isRange := strings.Cut(values[0], ".."); isRange && len(values) == 1 {
		var err error
		if out.Low, err = p.parseNumber(low); err != nil {
			return out, err
		}
		if out.High, err = p.parseNumber(high); err != nil {
			return out, err
		}
		out.Kind = p.Kind
		switch {
		case p.Kind == tune.LogInteger && out.Low < 1:
			out.Kind = tune.Integer
		case p.Kind == tune.LogUniform && out.Low <= 0:
			out.Kind = tune.Uniform
		}
		return out, tune.Space{out}.Validate()
	}
	for _, text := range values {
		if p.closed && !slices.Contains(p.Choices, text) {
			return out, fmt.Errorf("%q is neither %s", text, strings.Join(p.Choices, " nor "))
		}
		if p.Kind != tune.Choice {
			v, err := p.parseNumber(text)
			if err != nil {
				return out, err
			}
			text = strconv.FormatFloat(v, 'f', -1, 64)
		}
		out.Choices = append(out.Choices, text)
	}
	return out, tune.Space{out}.Validate()
}

// parseNumber parses a value of a numeric parameter.
func (p parameter) parseNumber(text string) (float64, error) {
	if p.Kind == tune.Choice {
		return 0, fmt.Errorf("this parameter has choices, not a range; list values in [ ], such as %s", strings.Join(p.Choices, ", "))
	}
	text = strings.TrimSpace(text)
	if p.Kind == tune.LogInteger {
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
	if p.positive && !(float32(v) > 0 && v <= math.MaxFloat32) {
		return 0, fmt.Errorf("%q is not a number above 0", text)
	}
	return v, nil
}

// check validates the specification with every choice of the parameter, or with both
// ends of its range.
func (p parameter) check(given spec.Spec) error {
	values := p.Choices
	if p.Kind != tune.Choice {
		values = []string{strconv.FormatFloat(p.Low, 'f', -1, 64), strconv.FormatFloat(p.High, 'f', -1, 64)}
	}
	for _, v := range values {
		if err := apply(given, []parameter{p}, tune.Values{p.Name: v}).Validate(); err != nil {
			return fmt.Errorf("%s: %w", v, err)
		}
	}
	return nil
}

// apply returns a copy of the specification in which the parameters have the given
// values.
func apply(given spec.Spec, parameters []parameter, values tune.Values) spec.Spec {
	s := given.Clone()
	s.Fill()
	s.Search = nil
	for _, p := range parameters {
		p.set(&s, values[p.Name])
	}
	return s
}
