package tune

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Kind is the type and scale of a parameter.
type Kind string

// The kinds of parameters.
const (
	Choice     Kind = "choice"      // one of several texts, unordered
	Integer    Kind = "integer"     // integers, linear scale
	LogInteger Kind = "log-integer" // integers, logarithmic scale
	Uniform    Kind = "uniform"     // real numbers, linear scale
	LogUniform Kind = "log-uniform" // real numbers, logarithmic scale
)

// A Param is one parameter. Kind Choice uses Choices; all other kinds use the
// inclusive bounds Low and High.
type Param struct {
	Name      string
	Kind      Kind
	Choices   []string
	Low, High float64
}

// A Space is the list of parameters to search. Samplers depend on its order.
type Space []Param

// Values maps parameter names to the values of one trial, as text. Numbers are
// formatted so that parsing returns the same bits.
type Values map[string]string

// Int returns the value of an integer parameter. It panics if there is none.
func (v Values) Int(name string) int {
	i, err := strconv.Atoi(v[name])
	if err != nil {
		panic(fmt.Sprintf("tune: parameter %q is not an integer: %v", name, err))
	}
	return i
}

// Float returns the value of a numeric parameter. It panics if there is none.
func (v Values) Float(name string) float64 {
	f, err := strconv.ParseFloat(v[name], 64)
	if err != nil {
		panic(fmt.Sprintf("tune: parameter %q is not a number: %v", name, err))
	}
	return f
}

// Validate returns an error for the first invalid parameter.
func (s Space) Validate() error {
	if len(s) == 0 {
		return fmt.Errorf("the search space is empty; add at least one parameter")
	}
	seen := map[string]bool{}
	for _, p := range s {
		if p.Name == "" || strings.ContainsAny(p.Name, ":\t\r\n") {
			return fmt.Errorf("invalid parameter name %q; use a non-empty name without colons, tabs and line breaks", p.Name)
		}
		if seen[p.Name] {
			return fmt.Errorf("parameter %s is defined twice", p.Name)
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
			return fmt.Errorf("a choice needs at least one value")
		}
		for i, c := range p.Choices {
			if slices.Contains(p.Choices[:i], c) {
				return fmt.Errorf("%q is listed twice", c)
			}
		}
		return nil
	}
	whole := p.Kind == Integer || p.Kind == LogInteger
	switch {
	case !whole && p.Kind != Uniform && p.Kind != LogUniform:
		return fmt.Errorf("unknown kind %q", p.Kind)
	case math.IsInf(p.High-p.Low, 0) || math.IsNaN(p.High-p.Low):
		return fmt.Errorf("the bounds %v and %v are not finite or too far apart", p.Low, p.High)
	case p.Low > p.High || !whole && p.Low == p.High:
		return fmt.Errorf("the range from %v to %v is empty", p.Low, p.High)
	case whole && (p.Low != math.Trunc(p.Low) || p.High != math.Trunc(p.High) || math.Abs(p.Low) > 1<<52 || math.Abs(p.High) > 1<<52):
		return fmt.Errorf("the bounds %v and %v are not integers", p.Low, p.High)
	case p.Kind == LogUniform && p.Low <= 0:
		return fmt.Errorf("the lower bound %v must be above 0 on a logarithmic scale", p.Low)
	case p.Kind == LogInteger && p.Low < 1:
		return fmt.Errorf("the lower bound %v must be at least 1 on a logarithmic scale", p.Low)
	}
	return nil
}

// String returns the canonical text of the domain: choice "a" "b", or
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
