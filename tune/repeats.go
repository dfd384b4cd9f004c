package tune

import (
	"context"
	"encoding/json"
	"maps"
	"math"
)

// Samplers may propose the same values twice: at random, when a discrete space is nearly
// exhausted, or because another worker is trying the values at this moment. A trial that
// repeats another one tells nothing new.

// proposals is how often values are proposed anew if they are those of another trial.
// proposalStep separates the random numbers and the points of these proposals from those
// of other trials.
const (
	proposals    = 32
	proposalStep = 1 << 20
)

// keyOf returns a text that is equal for values of equal trials.
func (w Worker) keyOf(v Values) string {
	if w.Key != nil {
		return w.Key(v)
	}
	text, err := json.Marshal(v) // sorts the names
	if err != nil {
		panic("tune: " + err.Error())
	}
	return string(text)
}

// proposeNew proposes values that no other trial has. If it finds none, it returns
// values that another trial has.
func (s *Study) proposeNew(number int, all []Trial, history []Observation, w Worker) Values {
	taken := map[string]bool{}
	for _, o := range all {
		if o.Values != nil && o.Number != number {
			taken[w.keyOf(o.Values)] = true
		}
	}
	var first Values
	for i := range proposals {
		if number > math.MaxInt32-i*proposalStep {
			break
		}
		values := s.sampler.Propose(s.def.Space, number+i*proposalStep, history)
		if !taken[w.keyOf(values)] {
			return values
		}
		if i == 0 {
			first = maps.Clone(values)
		}
	}
	return first
}

// sameTrial returns the earlier trial that ended with the result that this one would have,
// nil without one. A trial that failed may fail for another reason the next time.
func (s *Study) sameTrial(ctx context.Context, t Trial, w Worker) (*Trial, error) {
	all, err := s.store.Trials(ctx)
	if err != nil {
		return nil, err
	}
	key := w.keyOf(t.Values)
	for i, o := range all {
		if o.Number < t.Number && (o.State == Done || o.State == Pruned) && w.keyOf(o.Values) == key {
			return &all[i], nil
		}
	}
	return nil, nil
}
