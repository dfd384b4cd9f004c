package specfile

import (
	"strings"
	"testing"
)

// A file that is no mapping of plain keys, each given once, is refused with its
// place.
func TestRoot(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"mark of UTF-8", "\ufeffversion: 1\n", ""},
		{"JSON", `{"version": 1}`, ""},
		{"empty", " \n", "f.yaml: the form is empty; make one"},
		{"two documents", "a: 1\n---\nb: 2\n", "a second document; the form is one"},
		{"list", "- a\n", "f.yaml:1:1: not made of lines key: value"},
		{"repeated", "a: 1\na: 2\n", "f.yaml:2:1: not YAML"},
		{"repeated with quotes", "{a: 1, \"a\": 2}", "not YAML"},
		{"repeated below", "a:\n  b: 1\n  'b': 2\n", "f.yaml:3:3: not YAML"},
		{"deep", strings.Repeat("[", 40), "nested more than"},
	} {
		r := Reader{File: "f.yaml", What: "form", Make: "make one"}
		_, err := r.Root([]byte(c.text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Values keep their text, and what is wrong its path and place.
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
		t.Errorf("read %q", texts)
	}
	want := "f.yaml:1:25: codes[3]: needs one value, not keys and values (a text with a colon or a comma needs quotes)\nf.yaml:2:1: a key must be a plain word"
	if got := r.Problems.Error(); got != want {
		t.Errorf("problems\n%s\nnot\n%s", got, want)
	}
}
