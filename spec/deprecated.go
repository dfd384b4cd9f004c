package spec

import (
	"encoding/json"
	"fmt"
	"strings"
)

// deprecatedKeys maps keys of earlier versions, by their paths, to today's keys.
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

// deprecatedValues maps values of earlier versions to today's values, by the paths
// of their fields.
var deprecatedValues = map[string]map[string]string{
	"uncertainty.inference": {"rows": "entity-covariance"},
	"side.space":            {"dual-paper": "dual-unwhitened"},
}

// ReplaceDeprecated replaces values of earlier versions by today's and returns a
// warning for each. Fill does the same without warnings.
func (s *Spec) ReplaceDeprecated() []string {
	var warnings []string
	replace := func(path string, value *string) {
		if today, deprecated := deprecatedValues[path][*value]; deprecated {
			warnings = append(warnings, fmt.Sprintf("%s: %q is deprecated; use %q", path, *value, today))
			*value = today
		}
	}
	replace("uncertainty.inference", &s.Uncertainty.Inference)
	replace("side.space", &s.Side.Space)
	for name, path := range map[string]string{"inference": "uncertainty.inference", "space": "side.space"} {
		for i := range s.Search[name] {
			replace(path, &s.Search[name][i])
		}
	}
	return warnings
}

// todayKey returns the key that replaces a deprecated one, or the key itself.
// section ends in a dot, unless it is the root.
func todayKey(section, key string) (today string, deprecated bool) {
	today, deprecated = deprecatedKeys[section+key]
	if !deprecated {
		return key, false
	}
	return today, true
}

// UnmarshalJSON reads what [Spec.JSON] writes, in the spelling of this version or
// of an earlier one.
func (s *Spec) UnmarshalJSON(data []byte) error {
	var sections map[string]json.RawMessage
	if err := json.Unmarshal(data, &sections); err != nil {
		return err
	}
	for path, today := range deprecatedKeys {
		section, key, _ := strings.Cut(path, ".")
		var fields map[string]json.RawMessage
		if json.Unmarshal(sections[section], &fields) != nil {
			continue // absent, or not an object; decoding below reports it
		}
		value, found := fields[key]
		if !found {
			continue
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
