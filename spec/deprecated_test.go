package spec

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// old is a specification in the spelling of an earlier version.
const old = `version: 1
side:
  lengthscales: learn
  replace: noise:store
  space: dual-paper
uncertainty:
  inference: rows
  noiseuse: fit
fit: {cgsteps: 3, rate: 0.5}
search:
  lengthscales: [fixed, learn]
  noiseuse: predict
  cgsteps: 2..8
  rate: [0.1, 0.2]
  inference: rows
  space:
    - dual
    - dual-paper
`

// current is the specification that old stands for.
func current() Spec {
	return Spec{
		Version:     1,
		Side:        Side{LengthScales: "learn", Placebo: "noise:store", Space: "dual-unwhitened"},
		Uncertainty: Uncertainty{Inference: "entity-covariance", NoiseUse: "fit"},
		Fit:         Fit{CGSteps: 3, LearningRate: 0.5},
		Search: Search{"length-scales": {"fixed", "learn"}, "noise-use": {"predict"}, "cg-steps": {"2..8"}, "learning-rate": {"0.1", "0.2"},
			"inference": {"entity-covariance"}, "space": {"dual", "dual-unwhitened"}},
	}
}

func TestParseDeprecated(t *testing.T) {
	t.Parallel()
	got, warnings, err := Parse([]byte(old), "old.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if want := current(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	want := []string{
		"old.yaml:3: side.lengthscales is deprecated; use side.length-scales",
		"old.yaml:4: side.replace is deprecated; use side.placebo",
		"old.yaml:5: side.space: dual-paper is deprecated; use dual-unwhitened",
		"old.yaml:7: uncertainty.inference: rows is deprecated; use entity-covariance",
		"old.yaml:8: uncertainty.noiseuse is deprecated; use uncertainty.noise-use",
		"old.yaml:9: fit.cgsteps is deprecated; use fit.cg-steps",
		"old.yaml:9: fit.rate is deprecated; use fit.learning-rate",
		"old.yaml:11: search.lengthscales is deprecated; use search.length-scales",
		"old.yaml:12: search.noiseuse is deprecated; use search.noise-use",
		"old.yaml:13: search.cgsteps is deprecated; use search.cg-steps",
		"old.yaml:14: search.rate is deprecated; use search.learning-rate",
		"old.yaml:15: search.inference: rows is deprecated; use entity-covariance",
		"old.yaml:18: search.space: dual-paper is deprecated; use dual-unwhitened",
	}
	if !slices.Equal(warnings, want) {
		t.Errorf("got warnings\n%s\nwant\n%s", strings.Join(warnings, "\n"), strings.Join(want, "\n"))
	}
	if _, warnings, err := Parse(got.YAML(), "new.yaml"); err != nil || len(warnings) > 0 {
		t.Errorf("today's spelling: got warnings %q, error %v; want none", warnings, err)
	}
}

// A key outside of the section it is deprecated in has no other spelling.
func TestParseDeprecatedElsewhere(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"rate: 1", "fit.rate: 1", "data: {rate: 1}", "search: {replace: noise}"} {
		got, warnings, err := Parse([]byte("version: 1\n"+text+"\n"), "f.yaml")
		if err == nil && got.Search["replace"] == nil || len(warnings) > 0 {
			t.Errorf("%s: got %+v, warnings %q, error %v; want no replacement", text, got, warnings, err)
		}
	}
}

func TestFieldInBothSpellings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, path, want string }{
		{"fit: {rate: 1, learning-rate: 2}", "fit.learning-rate", "f.yaml:2:16: fit.learning-rate: fit.rate and fit.learning-rate are the same field; keep one"},
		{"fit:\n  cg-steps: 1\n  cgsteps: 2", "fit.cg-steps", "f.yaml:4:3: fit.cg-steps: fit.cg-steps and fit.cgsteps are the same field; keep one"},
		{"side: {replace: noise, placebo: noise}", "side.placebo", "side.replace and side.placebo are the same field; keep one"},
		{"search: {rate: 1, learning-rate: 2}", "search.learning-rate", "search.rate and search.learning-rate are the same field; keep one"},
	} {
		_, _, err := Parse([]byte("version: 1\n"+c.text+"\n"), "f.yaml")
		var problems Problems
		if !errors.As(err, &problems) || len(problems) != 1 || problems[0].Path != c.path || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", c.text, err, c.want)
		}
	}
	var s Spec
	err := json.Unmarshal([]byte(`{"fit": {"rate": 1, "learning-rate": 2}}`), &s)
	if want := "fit.learning-rate: fit.rate and fit.learning-rate are the same field; keep one"; err == nil || err.Error() != want {
		t.Errorf("JSON: got error %v, want %q", err, want)
	}
}

// Model files of earlier versions hold the specification as JSON.
func TestUnmarshalDeprecatedJSON(t *testing.T) {
	t.Parallel()
	text := `{"version": 1,
		"side": {"lengthscales": "learn", "replace": "noise:store", "space": "dual-paper"},
		"uncertainty": {"inference": "rows", "noiseuse": "fit"},
		"fit": {"cgsteps": 3, "rate": 0.5},
		"search": {"lengthscales": ["fixed", "learn"], "noiseuse": ["predict"], "cgsteps": ["2..8"], "rate": ["0.1", "0.2"],
			"inference": ["rows"], "space": ["dual", "dual-paper"]}}`
	var got Spec
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if want := current(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	for _, text := range []string{"null", "{}", `{"fit": null}`} {
		var got Spec
		if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, Spec{}) {
			t.Errorf("%s: got %+v, %v; want the zero Spec", text, got, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"fit": 7}`), &got); err == nil {
		t.Error("a number as section: got no error")
	}
}

func TestReplaceDeprecated(t *testing.T) {
	t.Parallel()
	given := Search{"inference": {"map", "rows"}, "rate": {"0.1"}}
	s := Spec{Side: Side{Space: "dual-paper"}, Search: given}
	warnings := s.ReplaceDeprecated()
	want := []string{
		"side.space: dual-paper is deprecated; use dual-unwhitened",
		"search.inference: rows is deprecated; use entity-covariance",
		"search.rate is deprecated; use search.learning-rate",
	}
	if !slices.Equal(warnings, want) {
		t.Errorf("got warnings %q, want %q", warnings, want)
	}
	if want := (Search{"inference": {"map", "entity-covariance"}, "learning-rate": {"0.1"}}); !reflect.DeepEqual(s.Search, want) {
		t.Errorf("got %v, want %v", s.Search, want)
	}
	if want := (Search{"inference": {"map", "rows"}, "rate": {"0.1"}}); !reflect.DeepEqual(given, want) {
		t.Errorf("the caller's map was changed to %v", given)
	}
	both := Spec{Search: Search{"rate": {"1"}, "learning-rate": {"2"}}}
	if warnings := both.ReplaceDeprecated(); len(warnings) > 0 || len(both.Search) != 2 {
		t.Errorf("both spellings: got %v with warnings %q, want no change", both.Search, warnings)
	}
}

func TestSetDeprecated(t *testing.T) {
	t.Parallel()
	var s Spec
	for _, c := range []struct{ name, value string }{
		{"side.lengthscales", "learn"}, {"side.replace", "noise:store"}, {"side.space", "dual-paper"},
		{"uncertainty.inference", "rows"}, {"uncertainty.noiseuse", "fit"}, {"fit.cgsteps", "3"}, {"fit.rate", "0.5"},
		{"search.learning-rate", "0.3"}, {"search.rate", "0.1"},
	} {
		want := 1
		if c.name == "search.learning-rate" {
			want = 0
		}
		if warnings, err := s.Set(c.name, false, c.value); err != nil || len(warnings) != want {
			t.Errorf("Set(%s, %s): got warnings %q and error %v, want %d warnings and no error", c.name, c.value, warnings, err, want)
		}
	}
	want := current()
	want.Version, want.Search = 0, Search{"learning-rate": {"0.1"}}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got %+v\nwant %+v", s, want)
	}
}
