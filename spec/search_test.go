package spec

import (
	"reflect"
	"strings"
	"testing"
)

func TestSearchSection(t *testing.T) {
	t.Parallel()
	got, _, err := Parse([]byte("version: 1\nsearch:\n  rank.1: [4, 8]\n  rank.2: 4..64\n  kernel: matern32\n  side.store:\n  - use\n"), "f.yaml")
	want := Search{"rank.1": {"4", "8"}, "rank.2": {"4..64"}, "kernel": {"matern32"}, "side.store": {"use"}}
	if err != nil || !reflect.DeepEqual(got.Search, want) {
		t.Errorf("got %v, %v; want %v", got.Search, err, want)
	}
	if _, err := got.Set("search.rank.1", false, "2..9"); err != nil || len(got.Search) != len(want) || got.Search["rank.1"][0] != "2..9" || want["rank.1"][0] != "4" {
		t.Errorf("Set: got %v, %v; want rank.1 to be 2..9", got.Search, err)
	}
	for text, want := range map[string]string{
		"search: all":                "f.yaml:2:9: search: must be a section with indented parameters",
		"search: {rank.1: }":         "search.rank.1: ",
		"search: {rank.1: []}":       "f.yaml:2:18: search.rank.1: needs values",
		"search: {rank.1: [[1]]}":    "search.rank.1[0]: must be a single value",
		"search: {rank.1: {low: 1}}": "search.rank.1: must be a list",
	} {
		if _, _, err := Parse([]byte("version: 1\n"+text+"\n"), "f.yaml"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", text, err, want)
		}
	}
	if spec, _, err := Parse([]byte("version: 1\nsearch: {}\n"), "f.yaml"); err != nil || spec.Search != nil || strings.Contains(string(spec.YAML()), "search") || strings.Contains(string(spec.JSON()), "search") {
		t.Errorf("an empty section: got %v, %v; want none", spec.Search, err)
	}
}
