package tune

import (
	"fmt"
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
	First   Values    // of trial 0; nil lets the sampler propose them
	Rungs   []float64 // budgets, rising and below 1, at which a trial must be among the best third; nil for none
	Facts   []Fact    // what else must agree: the objective, the data
}

// A Fact is something that all workers of a study must agree on.
// Both are one line; the name has no colon.
type Fact struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Validate reports what is wrong with the definition.
func (d Definition) Validate() error {
	if d.Goal != Minimize && d.Goal != Maximize {
		return fmt.Errorf("%q is no goal: minimize or maximize", d.Goal)
	}
	if _, err := NewSampler(d.Sampler, d.Seed); err != nil {
		return err
	}
	for _, f := range d.Facts {
		if strings.ContainsAny(f.Name, ":\n") || strings.Contains(f.Text, "\n") {
			return fmt.Errorf("%q: %q is no fact of one line", f.Name, f.Text)
		}
	}
	for i, budget := range d.Rungs {
		if !(budget > 0 && budget < 1) || i > 0 && budget <= d.Rungs[i-1] {
			return fmt.Errorf("the rungs %v do not rise between 0 and 1", d.Rungs)
		}
	}
	if err := d.Space.Validate(); err != nil || d.First == nil {
		return err
	}
	if _, err := d.Space.point(d.First); err != nil {
		return fmt.Errorf("the first trial: %w", err)
	}
	return nil
}

// String is the canonical text, a line for each thing that must agree.
func (d Definition) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "goal: %s\nsampler: %s\nseed: %d\n", d.Goal, d.Sampler, d.Seed)
	for _, f := range d.Facts {
		fmt.Fprintf(&b, "%s: %s\n", f.Name, f.Text)
	}
	if len(d.Rungs) > 0 {
		texts := make([]string, len(d.Rungs))
		for i, budget := range d.Rungs {
			texts[i] = number(budget)
		}
		fmt.Fprintf(&b, "rungs: %s\n", strings.Join(texts, " "))
	}
	if d.First != nil {
		var texts []string
		for _, p := range d.Space {
			texts = append(texts, p.Name+"="+d.First[p.Name])
		}
		fmt.Fprintf(&b, "first trial: %s\n", strings.Join(texts, " "))
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
	old, wanted := facts(recorded), facts(meant)
	for _, f := range old {
		switch text, found := find(wanted, f.Name); {
		case !found:
			e.Differences = append(e.Differences, fmt.Sprintf("%s is %s there and not given here", f.Name, f.Text))
		case text != f.Text:
			e.Differences = append(e.Differences, fmt.Sprintf("%s is %s there and %s here", f.Name, f.Text, text))
		}
	}
	for _, f := range wanted {
		if _, found := find(old, f.Name); !found {
			e.Differences = append(e.Differences, fmt.Sprintf("%s is %s here and not given there", f.Name, f.Text))
		}
	}
	if len(e.Differences) == 0 {
		e.Differences = []string{"its parameters stand in another order"}
	}
	return e
}

// facts are the lines of a definition.
func facts(definition string) []Fact {
	var all []Fact
	for l := range strings.Lines(definition) {
		name, text, _ := strings.Cut(strings.TrimSuffix(l, "\n"), ": ")
		all = append(all, Fact{name, text})
	}
	return all
}

func find(all []Fact, name string) (text string, found bool) {
	for _, f := range all {
		if f.Name == name {
			return f.Text, true
		}
	}
	return "", false
}
