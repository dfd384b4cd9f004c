package spec

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// deprecatedKeys maps the paths of keys of earlier versions to today's keys.
var deprecatedKeys = map[string]string{
	"side.lengthscales":    "length-scales",
	"side.replace":         "placebo",
	"uncertainty.noiseuse": "noise-use",
	"fit.cgsteps":          "cg-steps",
	"fit.rate":             "learning-rate",
	"search.lengthscales":  "length-scales",
	"search.noiseuse":      "noise-use",
	"search.cgsteps":       "cg-steps",
	"search.rate":          "learning-rate",
}

// deprecatedValues maps values of earlier versions to today's values, by the path of
// the field.
var deprecatedValues = map[string]map[string]string{
	"uncertainty.inference": {"rows": "entity-covariance"},
	"search.inference":      {"rows": "entity-covariance"},
	"side.space":            {"dual-paper": "dual-unwhitened"},
	"search.space":          {"dual-paper": "dual-unwhitened"},
}

// currentKey returns today's spelling of a key of a section, such as "fit.". The section
// of the top level is "".
func currentKey(section, key string) string {
	if today, deprecated := deprecatedKeys[section+key]; deprecated && section != "" {
		return today
	}
	return key
}

// currentValue returns today's spelling of a value of the field at a path.
func currentValue(path, value string) string {
	if today, deprecated := deprecatedValues[path][value]; deprecated {
		return today
	}
	return value
}

// ReplaceDeprecated replaces values and search parameters of earlier versions by
// today's and returns one warning for each.
func (s *Spec) ReplaceDeprecated() (warnings []string) {
	replace := func(path, value string) string {
		today := currentValue(path, value)
		if today != value {
			warnings = append(warnings, fmt.Sprintf("%s: %s is deprecated; use %s", path, value, today))
		}
		return today
	}
	s.Uncertainty.Inference = replace("uncertainty.inference", s.Uncertainty.Inference)
	s.Side.Space = replace("side.space", s.Side.Space)
	s.Search = s.Search.clone() // the map may belong to another Spec
	for _, name := range slices.Sorted(maps.Keys(s.Search)) {
		values := s.Search[name]
		for i, value := range values {
			values[i] = replace("search."+name, value)
		}
		today := currentKey("search.", name)
		if _, both := s.Search[today]; today == name || both {
			continue // if both are given, the search reports the old one as unknown
		}
		warnings = append(warnings, fmt.Sprintf("search.%s is deprecated; use search.%s", name, today))
		delete(s.Search, name)
		s.Search[today] = values
	}
	return warnings
}

// UnmarshalJSON reads what [Spec.JSON] returns, in the spelling of this version or of
// an earlier one.
func (s *Spec) UnmarshalJSON(data []byte) error {
	var sections map[string]json.RawMessage
	if err := json.Unmarshal(data, &sections); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(deprecatedKeys)) {
		section, key, _ := strings.Cut(path, ".")
		var fields map[string]json.RawMessage
		if json.Unmarshal(sections[section], &fields) != nil {
			continue // absent, or not an object, which the decoder reports below
		}
		value, found := fields[key]
		if !found {
			continue
		}
		today := deprecatedKeys[path]
		if _, both := fields[today]; both {
			return problemf(section+"."+today, "%s and %s.%s are the same field; keep one", path, section, today)
		}
		delete(fields, key)
		fields[today] = value
		text, err := json.Marshal(fields)
		if err != nil {
			return err
		}
		sections[section] = text
	}
	text, err := json.Marshal(sections)
	if err != nil {
		return err
	}
	type plain Spec // without this method
	if err := json.Unmarshal(text, (*plain)(s)); err != nil {
		return err
	}
	s.ReplaceDeprecated()
	return nil
}
