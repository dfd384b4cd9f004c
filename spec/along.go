package spec

import (
	"fmt"
	"slices"
	"strings"
)

// alongPrefix begins a core along time.
const alongPrefix = "along("

// cutAlong replaces the core along time in the text of a term, as in item,along(time):3, by
// its mode. The series is nil if there is none.
func cutAlong(s string, modes []string) (rest string, along *Series, err error) {
	from := strings.Index(s, alongPrefix)
	if from < 0 || from > 0 && !strings.ContainsRune(", ", rune(s[from-1])) {
		return s, nil, nil
	}
	inside, after, closed := cutParenthesis(s[from+len(alongPrefix):])
	mode, parts, hasParts := strings.Cut(inside, ";")
	along = &Series{Time: strings.TrimSpace(mode), Walk: !hasParts, AR: !hasParts}
	next := strings.TrimSpace(after)
	before := strings.TrimSpace(s[:from])
	switch {
	case !closed || strings.Contains(after, alongPrefix) || next != "" && !strings.ContainsRune(",:@", rune(next[0])):
		return "", nil, fmt.Errorf("term %q: write one core along time, alone, as in item,along(time):3", s)
	case along.Time == "" || modes != nil && !slices.Contains(modes, along.Time):
		return "", nil, fmt.Errorf("unknown mode of time %q%s", along.Time, hintOrList(along.Time, modes))
	case before != "" && strings.HasPrefix(next, ","):
		return "", nil, fmt.Errorf("term %q: a core along time is the first or the last of its term; write %s last", s, alongPrefix+inside+")")
	}
	if hasParts {
		for part := range strings.SplitSeq(parts, ",") {
			if err := along.add(strings.TrimSpace(part)); err != nil {
				return "", nil, fmt.Errorf("term %q: %w", s, err)
			}
		}
	}
	if along.Scale {
		return "", nil, fmt.Errorf("term %q: a core along time has no scale, because the other cores have one for each component; use it in a series", s)
	}
	if along.Drift {
		return "", nil, fmt.Errorf("term %q: a core along time has no drift, because the sign of its components is arbitrary; use trend", s)
	}
	return s[:from] + along.Time + after, along, nil
}

// cutParenthesis cuts a text at the parenthesis that closes one before it. The names of
// modes may have pairs of their own, as hour(stamp).
func cutParenthesis(s string) (inside, after string, closed bool) {
	depth := 0
	for i, r := range s {
		switch {
		case r == '(':
			depth++
		case r == ')' && depth == 0:
			return s[:i], s[i+1:], true
		case r == ')':
			depth--
		}
	}
	return s, "", false
}

// IsAlong reports whether a core of the term is the one along time.
func (t Term) IsAlong(core []string) bool {
	return t.Along != nil && len(core) == 1 && core[0] == t.Along.Time
}
