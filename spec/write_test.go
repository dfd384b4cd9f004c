package spec

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// YAML and JSON are read back as the same specification.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rich := Spec{
		Data: Data{
			Files:  []string{"a b.csv", "-", "c:\\d.csv", "tab\there", "# no comment", "'quoted'", "\"q\"", "née", "\u2028", "日本"},
			Target: "null", Weight: "yes", Modes: []string{"store", "1", "time=year+month", "hour(ts)"},
			Delimiter: "\t", Header: "no", Duplicates: "sum", Decimal: ",", Thousands: ".",
		},
		Split: "entity:store=10%", Transform: "sqrt", Terms: []string{"store*1,time:2", "hour"},
		Fit:    Fit{Solver: "adam", Ridge: "frequency", Lambda: LambdaOf(1e-7), LearningRate: 1e-12, Batch: 0.1, Schedule: "block"},
		Seed:   1<<64 - 1,
		Search: Search{"rank.1": {"4..64"}, "side.a b: c": {"use", "none"}, "learning-rate": {"0.1", "yes", ""}},
	}
	for name, s := range map[string]Spec{"zero": {}, "default": Default(), "rich": rich,
		"posterior": {Uncertainty: Uncertainty{Inference: "mean-field"}, Fit: Fit{Sweeps: 30}, Side: Side{Tables: []string{"store=s.csv"}, Variant: "plain"}}} {
		filled := s
		filled.Fill()
		for form, text := range map[string][]byte{"YAML": s.YAML(), "JSON": s.JSON()} {
			got, _, err := Parse(text, name)
			if err != nil {
				t.Errorf("%s: reading %s: %v\n%s", name, form, err, text)
				continue
			}
			if !reflect.DeepEqual(got, filled) {
				t.Errorf("%s: %s: got\n%+v\nwant\n%+v\n%s", name, form, got, filled, text)
			}
		}
		if got, _, err := Parse(s.BriefYAML(), name); err != nil {
			t.Errorf("%s: reading brief YAML: %v\n%s", name, err, s.BriefYAML())
		} else if got.Fill(); !reflect.DeepEqual(got, filled) {
			t.Errorf("%s: brief YAML: got\n%+v\nwant\n%+v\n%s", name, got, filled, s.BriefYAML())
		}
		var got Spec
		if err := json.Unmarshal(s.JSON(), &got); err != nil || string(got.JSON()) != string(s.JSON()) {
			t.Errorf("%s: encoding/json: got %s, %v\nwant %s", name, got.JSON(), err, s.JSON())
		}
	}
}

func TestYAMLComments(t *testing.T) {
	t.Parallel()
	full := Default()
	full.Search = Search{"rank.1": {"4"}}
	text := string(full.YAML())
	var check func(section reflect.Value, indent string)
	check = func(section reflect.Value, indent string) {
		for tag, v := range fieldsOf(section) {
			if tag.doc == "" {
				t.Errorf("%s has no comment", tag.key)
			}
			found := false
			for line := range strings.Lines(text) {
				found = found || strings.HasPrefix(line, indent+tag.key+":") && strings.Contains(line, "# "+tag.doc)
			}
			if !found {
				t.Errorf("key %s with comment %q is not in\n%s", tag.key, tag.doc, text)
			}
			if isSection(v) {
				check(v, indent+"  ")
			}
		}
	}
	check(reflect.ValueOf(Spec{}), "")
}
