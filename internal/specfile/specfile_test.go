package specfile

import (
	"strings"
	"testing"
)

// A file that is not a mapping of unique plain keys is rejected with a position.
func TestRoot(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"byte order mark", "\ufeffversion: 1\n", ""},
		{"JSON", `{"version": 1}`, ""},
		{"empty", " \n", "f.yaml: the form is empty; make one"},
		{"two documents", "a: 1\n---\nb: 2\n", "a second document; the form must be a single document"},
		{"list", "- a\n", "f.yaml:1:1: not a mapping"},
		{"duplicate", "a: 1\na: 2\n", "f.yaml:2:1: not valid YAML"},
		{"duplicate with quotes", "{a: 1, \"a\": 2}", "not valid YAML"},
		{"nested duplicate", "a:\n  b: 1\n  'b': 2\n", "f.yaml:3:3: not valid YAML"},
		{"deep", strings.Repeat("[", 40), "nested more than"},
	} {
		r := Reader{File: "f.yaml", Kind: "form", Remedy: "make one"}
		_, err := r.Root([]byte(c.text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// Values keep their text, and problems have their path and position.
func TestReader(t *testing.T) {
	r := Reader{File: "f.yaml"}
	root, err := r.Root([]byte("codes: [007, true, 'x', {a: 1}]\n&k other: 2\nname: 1e3\n"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for key, entry := range r.Entries(root, "") {
		if key == "codes" {
			texts[key] = strings.Join(r.Texts(entry.Value, key), "|")
		} else {
			texts[key], _ = Scalar(entry.Value)
		}
	}
	if texts["codes"] != "007|true|x" || texts["name"] != "1e3" {
		t.Errorf("got %q", texts)
	}
	want := "f.yaml:1:25: codes[3]: must be a single value, not keys and values (quote a text that contains a colon or a comma)\nf.yaml:2:1: the key must be a plain word"
	if got := r.Problems.Error(); got != want {
		t.Errorf("got problems\n%s\nwant\n%s", got, want)
	}
}
