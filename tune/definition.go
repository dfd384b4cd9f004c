package tune

import (
	"fmt"
	"strings"
)

// A Goal is the direction of the optimization.
type Goal string

// The goals.
const (
	Minimize Goal = "minimize"
	Maximize Goal = "maximize"
)

// A Definition identifies a study. Two studies are the same if their definitions
// are equal.
type Definition struct {
	Space   Space
	Goal    Goal
	Sampler string // one of Samplers
	Seed    uint64
	First   Values    // values of trial 0; if nil, the sampler proposes them
	Rungs   []float64 // increasing budgets below 1 at which a trial must be among the best third to continue; nil for none
	Facts   []Fact    // other properties that must agree, such as the objective and the data
}

// A Fact is a property that all workers of a study must agree on.
// Name and text are single lines, and the name contains no colon.
type Fact struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Validate returns an error if the definition is invalid.
func (d Definition) Validate() error {
	if d.Goal != Minimize && d.Goal != Maximize {
		return fmt.Errorf("unknown goal %q; use minimize or maximize", d.Goal)
	}
	if _, err := NewSampler(d.Sampler, d.Seed); err != nil {
		return err
	}
	for _, f := range d.Facts {
		if strings.ContainsAny(f.Name, ":\n") || strings.Contains(f.Text, "\n") {
			return fmt.Errorf("invalid fact %q: %q; name and text must be single lines, the name without a colon", f.Name, f.Text)
		}
	}
	for i, budget := range d.Rungs {
		if !(budget > 0 && budget < 1) || i > 0 && budget <= d.Rungs[i-1] {
			return fmt.Errorf("the rungs %v must increase strictly between 0 and 1", d.Rungs)
		}
	}
	if err := d.Space.Validate(); err != nil || d.First == nil {
		return err
	}
	if _, err := d.Space.point(d.First); err != nil {
		return fmt.Errorf("first trial: %w", err)
	}
	return nil
}

// String returns the canonical text, one line per property.
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

// A DefinitionError reports that the store holds a different study.
type DefinitionError struct{ Differences []string }

func (e *DefinitionError) Error() string {
	return "the stored study differs: " + strings.Join(e.Differences, "; ")
}

// compare returns a *DefinitionError if the stored definition differs from the
// requested one.
func compare(recorded, requested string) error {
	if recorded == requested {
		return nil
	}
	e := &DefinitionError{}
	old, wanted := facts(recorded), facts(requested)
	for _, f := range old {
		switch text, found := find(wanted, f.Name); {
		case !found:
			e.Differences = append(e.Differences, fmt.Sprintf("%s is %s in the store and not given here", f.Name, f.Text))
		case text != f.Text:
			e.Differences = append(e.Differences, fmt.Sprintf("%s is %s in the store and %s here", f.Name, f.Text, text))
		}
	}
	for _, f := range wanted {
		if _, found := find(old, f.Name); !found {
			e.Differences = append(e.Differences, fmt.Sprintf("%s is %s here and not given in the store", f.Name, f.Text))
		}
	}
	if len(e.Differences) == 0 {
		e.Differences = []string{"the parameters have a different order"}
	}
	return e
}

// facts parses the lines of a definition.
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
