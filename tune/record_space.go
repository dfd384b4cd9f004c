package tune

import (
	"fmt"
	"strconv"
	"strings"
)

// Space returns the search space, parsed from the definition.
func (r Record) Space() (Space, error) {
	var space Space
	for _, f := range r.Definition {
		name, is := strings.CutPrefix(f.Name, "parameter ")
		if !is {
			continue
		}
		p, err := parseParam(name, f.Text)
		if err != nil {
			return nil, fmt.Errorf("parameter %s of the study: %w", name, err)
		}
		space = append(space, p)
	}
	return space, space.Validate()
}

// parseParam parses the output of Param.String.
func parseParam(name, text string) (Param, error) {
	kind, rest, _ := strings.Cut(text, " ")
	p := Param{Name: name, Kind: Kind(kind)}
	if p.Kind == Choice {
		for rest != "" {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return p, fmt.Errorf("invalid choice %q", text)
			}
			choice, _ := strconv.Unquote(quoted) // cannot fail for a quoted prefix
			p.Choices = append(p.Choices, choice)
			rest = strings.TrimPrefix(rest[len(quoted):], " ")
		}
		return p, nil
	}
	low, high, _ := strings.Cut(rest, " ")
	var lowErr, highErr error
	p.Low, lowErr = strconv.ParseFloat(low, 64)
	p.High, highErr = strconv.ParseFloat(high, 64)
	if lowErr != nil || highErr != nil {
		return p, fmt.Errorf("%q does not have two bounds", text)
	}
	return p, nil
}
