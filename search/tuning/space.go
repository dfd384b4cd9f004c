package tuning

import (
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tune"
)

// Space returns what a search of a specification varies:
//   - each rank, from a quarter to four times the given one,
//   - the order of the cores of a term with three or more, if it is auto,
//   - which terms after the first are used,
//   - the scale and the likelihood, if they are auto,
//   - with side tables: the variant, the kernel, its columns and which tables are used,
//   - the weight of the penalty, if it is given,
//   - the learning rate of adam.
//
// The section search of the specification overrides this. Everything else stays as
// given. A penalty that is auto is not part of the space: every fit chooses its own by
// short runs on the validation set, which costs less than additional trials.
func Space(s spec.Spec) (tune.Space, error) {
	parameters, err := parametersOf(s)
	if err != nil {
		return nil, err
	}
	var space tune.Space
	for _, p := range parameters {
		space = append(space, p.Param)
	}
	return space, space.Validate()
}

// givenValues returns the values of the specification itself, or the nearest ones if it
// lies outside of the space or leaves them open.
func givenValues(s spec.Spec) (tune.Values, error) {
	parameters, err := parametersOf(s)
	values := tune.Values{}
	for _, p := range parameters {
		values[p.Name] = p.Nearest(p.current)
	}
	return values, err
}

// trialSpec returns the specification with the values of a trial.
func trialSpec(s spec.Spec, values tune.Values) (spec.Spec, error) {
	parameters, err := parametersOf(s)
	if err != nil {
		return s, err
	}
	s = apply(s, parameters, values)
	return s, s.Validate()
}
