package tune

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Kind is how a parameter varies.
type Kind string

// The kinds of parameters.
const (
	Choice     Kind = "choice"      // one of some texts, in no order
	Integer    Kind = "integer"     // whole numbers, evenly
	LogInteger Kind = "log-integer" // whole numbers, evenly by their logarithm
	Uniform    Kind = "uniform"     // numbers, evenly
	LogUniform Kind = "log-uniform" // numbers, evenly by their logarithm
)

// A Param is one parameter: a choice has Choices, every other kind the bounds
// Low and High, both of them possible values.
type Param struct {
	Name      string
	Kind      Kind
	Choices   []string
	Low, High float64
}

// A Space is what may vary. Its order matters to what samplers draw.
type Space []Param

// Values are those of one trial, by parameter, as texts. Numbers are written so
// that reading them gives the same bits.
type Values map[string]string

// Int is the value of an integer parameter. It panics where there is none.
func (v Values) Int(name string) int {
	i, err := strconv.Atoi(v[name])
	if err != nil {
		panic(fmt.Sprintf("tune: parameter %q is no integer: %v", name, err))
	}
	return i
}

// Float is the value of a numeric parameter. It panics where there is none.
func (v Values) Float(name string) float64 {
	f, err := strconv.ParseFloat(v[name], 64)
	if err != nil {
		panic(fmt.Sprintf("tune: parameter %q is no number: %v", name, err))
	}
	return f
}

// Validate reports the first parameter that cannot be searched.
func (s Space) Validate() error {
	if len(s) == 0 {
		return fmt.Errorf("the search space is empty: nothing may vary")
	}
	seen := map[string]bool{}
	for _, p := range s {
		if p.Name == "" || strings.ContainsAny(p.Name, ":\t\r\n") {
			return fmt.Errorf("%q is no name of a parameter: give one of one line without colons and tabs", p.Name)
		}
		if seen[p.Name] {
			return fmt.Errorf("parameter %s is given twice", p.Name)
		}
		seen[p.Name] = true
		if err := p.validate(); err != nil {
			return fmt.Errorf("parameter %s: %w", p.Name, err)
		}
	}
	return nil
}

func (p Param) validate() error {
	if p.Kind == Choice {
		if len(p.Choices) == 0 {
			return fmt.Errorf("a choice needs something to choose from")
		}
		for i, c := range p.Choices {
			if slices.Contains(p.Choices[:i], c) {
				return fmt.Errorf("%q is given twice", c)
			}
		}
		return nil
	}
	whole := p.Kind == Integer || p.Kind == LogInteger
	switch {
	case !whole && p.Kind != Uniform && p.Kind != LogUniform:
		return fmt.Errorf("%q is no kind of parameter", p.Kind)
	case math.IsInf(p.High-p.Low, 0) || math.IsNaN(p.High-p.Low):
		return fmt.Errorf("the bounds %v and %v are not finite, or too far apart", p.Low, p.High)
	case p.Low > p.High || !whole && p.Low == p.High:
		return fmt.Errorf("there is nothing between %v and %v", p.Low, p.High)
	case whole && (p.Low != math.Trunc(p.Low) || p.High != math.Trunc(p.High) || math.Abs(p.Low) > 1<<52 || math.Abs(p.High) > 1<<52):
		return fmt.Errorf("the bounds %v and %v are not whole numbers", p.Low, p.High)
	case p.Kind == LogUniform && p.Low <= 0:
		return fmt.Errorf("the lower bound %v has no logarithm; it must be above 0", p.Low)
	case p.Kind == LogInteger && p.Low < 1:
		return fmt.Errorf("the lower bound %v must be 1 or more on a logarithmic scale", p.Low)
	}
	return nil
}

// String is the canonical text of what may vary: choice "a" "b", or
// log-uniform 0.001 10.
func (p Param) String() string {
	var b strings.Builder
	b.WriteString(string(p.Kind))
	if p.Kind == Choice {
		for _, c := range p.Choices {
			b.WriteString(" " + strconv.Quote(c))
		}
		return b.String()
	}
	return b.String() + " " + number(p.Low) + " " + number(p.High)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
