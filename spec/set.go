package spec

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Set sets a field by its path, as in fit.sweeps, to one value or, if list is true, to a
// list of values. Deprecated names and values are replaced, with a warning for each. If
// something is wrong, Set returns Problems and changes nothing. Call Fill and Validate
// afterwards.
func (s *Spec) Set(name string, list bool, values ...string) (warnings []string, err error) {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = strconv.QuoteToASCII(v)
	}
	text := strings.Join(quoted, ", ")
	if list {
		text = "[" + text + "]"
	}
	if section, key, inner := strings.Cut(name, "."); inner {
		text = fmt.Sprintf("%q: {%q: %s}", section, key, text)
	} else {
		text = fmt.Sprintf("%q: %s", name, text)
	}
	var r specReader
	root, err := r.Root([]byte(text))
	changed := *s
	if err == nil {
		r.section(root, "", reflect.ValueOf(&changed).Elem())
	}
	for i := range r.Problems {
		r.Problems[i].Line, r.Problems[i].Column = 0, 0 // the text is not the user's
	}
	if len(r.Problems) == 0 {
		*s = changed
	}
	for i, w := range r.warnings {
		_, r.warnings[i], _ = strings.Cut(w, ": ") // without the place in that text
	}
	return r.warnings, r.Problems.Err()
}
