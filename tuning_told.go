package kft

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/nearest"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tune"
)

// knobs are those that a search of the specification turns: what follows from it,
// and what its section search says of each.
func knobs(spec Spec) ([]knob, error) {
	spec.Fill()
	table, err := knobTable(spec)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, k := range table {
		names = append(names, k.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Search)) {
		if !slices.Contains(names, name) {
			return nil, searchProblem(name, fmt.Sprintf("this specification has no such parameter%s; there are %s", nearest.Hint(name, names), strings.Join(names, ", ")))
		}
	}
	var all []knob
	for _, k := range table {
		values, told := spec.Search[k.Name]
		switch {
		case !told && !k.derived, told && slices.Equal(values, []string{"fixed"}):
			continue
		case told:
			if k.Param, err = k.told(values); err == nil {
				err = k.check(spec)
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
	return model.Problems{{Path: "search." + name, Message: message}}
}

// told is the parameter that was asked for: a range, or values to choose from,
// one of which is no choice.
func (k knob) told(values []string) (tune.Param, error) {
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

// number reads a value of a knob of numbers.
func (k knob) number(text string) (float64, error) {
	if k.Kind == tune.Choice {
		return 0, fmt.Errorf("this is a choice and has no range; give values in [ ], such as %s", strings.Join(k.Choices, ", "))
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

// check tries every choice, or both ends, with all else as it is given.
func (k knob) check(spec Spec) error {
	values := k.Choices
	if k.Kind != tune.Choice {
		values = []string{strconv.FormatFloat(k.Low, 'f', -1, 64), strconv.FormatFloat(k.High, 'f', -1, 64)}
	}
	for _, v := range values {
		if err := turned(spec, []knob{k}, tune.Values{k.Name: v}).Validate(); err != nil {
			return fmt.Errorf("%s: %w", v, err)
		}
	}
	return nil
}

// turned is the specification with values, itself unchanged.
func turned(spec Spec, all []knob, v tune.Values) Spec {
	spec.Fill()
	spec.Search = nil
	spec.Terms, spec.Side.Tables, spec.Side.Kernels = slices.Clone(spec.Terms), slices.Clone(spec.Side.Tables), slices.Clone(spec.Side.Kernels)
	for _, k := range all {
		k.turn(&spec, v[k.Name])
	}
	return spec
}
