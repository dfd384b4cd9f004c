package tune

import (
	"fmt"
	"strconv"
	"strings"
)

// A Goal is which scores are good.
type Goal string

// The goals.
const (
	Minimize Goal = "minimize"
	Maximize Goal = "maximize"
)

// A Definition is what makes two studies the same.
type Definition struct {
	Space   Space
	Goal    Goal
	Sampler string // one of Samplers
	Seed    uint64
	Facts   []Fact // what else must agree: the objective, the data
}

// A Fact is something that all workers of a study must agree on.
type Fact struct{ Name, Text string }

// Validate reports what is wrong with the definition.
func (d Definition) Validate() error {
	if d.Goal != Minimize && d.Goal != Maximize {
		return fmt.Errorf("%q is no goal: minimize or maximize", d.Goal)
	}
	if _, err := NewSampler(d.Sampler, d.Seed); err != nil {
		return err
	}
	for _, f := range d.Facts {
		if strings.ContainsAny(f.Name, ":\n") {
			return fmt.Errorf("%q is no name of a fact", f.Name)
		}
	}
	return d.Space.Validate()
}

// String is the canonical text, a line for each thing that must agree.
func (d Definition) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "goal: %s\nsampler: %s\nseed: %d\n", d.Goal, d.Sampler, d.Seed)
	for _, f := range d.Facts {
		fmt.Fprintf(&b, "%s: %s\n", f.Name, strconv.Quote(f.Text))
	}
	for _, p := range d.Space {
		fmt.Fprintf(&b, "parameter %s: %v\n", p.Name, p)
	}
	return b.String()
}

// A DefinitionError says that a study is not the one that was meant.
type DefinitionError struct{ Differences []string }

func (e *DefinitionError) Error() string {
	return "this is another study: " + strings.Join(e.Differences, "; ")
}

// compare returns how the study on record differs from the one that is meant.
func compare(recorded, meant string) error {
	if recorded == meant {
		return nil
	}
	e := &DefinitionError{}
	old, wanted := lines(recorded), lines(meant)
	for _, l := range old {
		switch text, found := find(wanted, l[0]); {
		case !found:
			e.Differences = append(e.Differences, fmt.Sprintf("%s is %s there and not given here", l[0], l[1]))
		case text != l[1]:
			e.Differences = append(e.Differences, fmt.Sprintf("%s is %s there and %s here", l[0], l[1], text))
		}
	}
	for _, l := range wanted {
		if _, found := find(old, l[0]); !found {
			e.Differences = append(e.Differences, fmt.Sprintf("%s is %s here and not given there", l[0], l[1]))
		}
	}
	if len(e.Differences) == 0 {
		e.Differences = []string{"its parameters stand in another order"}
	}
	return e
}

// lines are the keys and texts of a definition.
func lines(definition string) [][2]string {
	var all [][2]string
	for l := range strings.Lines(definition) {
		key, text, _ := strings.Cut(strings.TrimSuffix(l, "\n"), ": ")
		all = append(all, [2]string{key, text})
	}
	return all
}

func find(all [][2]string, key string) (string, bool) {
	for _, l := range all {
		if l[0] == key {
			return l[1], true
		}
	}
	return "", false
}
