package spec

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

const iowa = `version: 1
data:
  files: [sales.csv.gz]
  target: bottles
  modes:
    - store
    - item
    - time=year+month
transform: log1p
terms: ['store,item,time:20', 'store*item,time:2']
fit:
  lambda: 0
`

func TestParse(t *testing.T) {
	t.Parallel()
	got, _, err := Parse([]byte(iowa), "kft.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := Spec{
		Version:   1,
		Data:      Data{Files: []string{"sales.csv.gz"}, Target: "bottles", Modes: []string{"store", "item", "time=year+month"}},
		Transform: "log1p",
		Terms:     []string{"store,item,time:20", "store*item,time:2"},
		Fit:       Fit{Lambda: LambdaOf(0)},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	got.Fill()
	if err := got.Validate(); err != nil {
		t.Errorf("Validate: %v", err)
	}
	terms, err := got.ParseTerms()
	if err != nil || len(terms) != 2 || terms[1].Ranks[0] != 2 {
		t.Errorf("got terms %v, error %v; want 2 terms, the second of rank 2", terms, err)
	}
}

func TestParseProblems(t *testing.T) {
	t.Parallel()
	long := "version: 1\n#" + strings.Repeat("x", 64<<10)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"empty", "", []string{"f.yaml: the specification is empty"}},
		{"comment only", "# nothing\n", []string{"f.yaml: the specification is empty"}},
		{"too long", long, []string{"for a file of kind specification"}},
		{"brackets", "version: 1\nterms: " + strings.Repeat("[", 33), []string{"nested more than 32 levels deep"}},
		{"not text", "version: \xff", []string{"not UTF-8 text"}},
		{"a table", "store,item\n1,2\n", []string{"f.yaml:1:1: not a mapping"}},
		{"invalid YAML", "version: 1\ndata: {a: [\n", []string{"f.yaml:2:", "not valid YAML"}},
		{"two documents", "version: 1\n---\nversion: 1\n", []string{"f.yaml:3:", "a second document"}},
		{"no version", "seed: 3\n", []string{"version: missing; write version: 1"}},
		{"newer", "version: 2\nzeal: 3\n", []string{"f.yaml:1:10: version: 2 requires a newer kft; this one reads version 1"}},
		{"invalid version", "version: one\n", []string{`version: "one" is not a version`}},
		{"unknown keys", "version: 1\nfit:\n  sweps: 3\nsede: 1\n", []string{
			`f.yaml:3:3: fit.sweps: unknown key (did you mean "sweeps"?)`, "f.yaml:4:1: sede: unknown key"}},
		{"key of another section", "version: 1\nsweeps: 3\n", []string{"sweeps: unknown key here; it belongs to section fit"}},
		{"key of the top level", "version: 1\ndata: {transform: sqrt}\n", []string{"data.transform: unknown key here; it belongs to the top level"}},
		{"unknown everywhere", "version: 1\nzzzzz: sqrt\n", []string{"the keys are version, data, split"}},
		{"key twice", "version: 1\nseed: 3\nseed: 4\n", []string{"f.yaml:3:1:", "seed"}},
		{"word for number", "version: 1\nfit: {sweeps: many}\n", []string{`f.yaml:2:15: fit.sweeps: "many" is not a whole number, 1 or more`}},
		{"zero", "version: 1\nfit: {sweeps: 0, learning-rate: 0}\nseed: 0\n", []string{"fit.sweeps", "fit.learning-rate", "seed"}},
		{"fraction", "version: 1\nseed: 1.5\n", []string{`seed: "1.5" is not a whole number`}},
		{"not a number", "version: 1\nfit: {learning-rate: .nan, batch: .inf}\n", []string{"fit.learning-rate", "fit.batch"}},
		{"lambda", "version: 1\nfit: {lambda: -1}\n", []string{`fit.lambda: "-1" is neither a number, 0 or more, nor auto`}},
		{"list for value", "version: 1\nsplit: [a, b]\n", []string{"split: must be a single value, not a list"}},
		{"value for list", "version: 1\nterms: a,b:3\n", []string{"f.yaml:2:8: terms: must be a list"}},
		{"value for section", "version: 1\ndata: sales.csv\n", []string{"data: must be a section with indented keys"}},
		{"keys in a list", "version: 1\nterms:\n  - {a: b}\n  -\n", []string{"terms[0]: must be a single value, not keys and values", "terms[1]: must be a single value, not nothing"}},
		{"alias", "version: 1\nsplit: &x a\ntransform: *x\n", []string{"split: must be a single value, not an anchor", "transform: must be a single value, not an anchor"}},
		{"key that is not a word", "version: 1\n[a]: 1\n", []string{"f.yaml:2:"}},
	} {
		_, _, err := Parse([]byte(c.text), "f.yaml")
		if err == nil {
			t.Errorf("%s: got no error, want %q", c.name, c.want)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got error\n%v\nwant one with %q", c.name, err, want)
			}
		}
		var problems Problems
		if !errors.As(err, &problems) || len(problems) == 0 {
			t.Errorf("%s: got an error of type %T, want Problems", c.name, err)
		}
	}
}

// Columns may have names such as 007 and true.
func TestScalarsKeepTheirText(t *testing.T) {
	t.Parallel()
	got, _, err := Parse([]byte("version: 1\ndata: {target: 007, weight: true, modes: [1e3, 0x1F, ~x, yes, \"a\\tb\"]}\n"), "f")
	if err != nil {
		t.Fatal(err)
	}
	want := Data{Target: "007", Weight: "true", Modes: []string{"1e3", "0x1F", "~x", "yes", "a\tb"}}
	if !reflect.DeepEqual(got.Data, want) {
		t.Errorf("got %q, want %q", got.Data, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(iowa))
	f.Add(Default().YAML())
	f.Add(Default().JSON())
	f.Add([]byte("version: 1\nsearch: {rank.1: 4..64, learning-rate: [0.1, 1e-3], a: '', kernel: ~, 7: [no]}\n"))
	f.Add([]byte("version: 1\nside: {replace: noise, space: dual-paper}\nsearch: {rate: 1e-3, inference: [map, rows]}\n"))
	f.Add([]byte("version: 1\ndata: {files: [\"a\\u0041\", 'b''c', |\n x]}\n"))
	f.Add([]byte("version: 1\nfit: &a {lambda: 3}\nterms:\n- a,b:3\n-\n"))
	f.Add([]byte("%YAML 1.2\n---\nversion: 1\n...\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, _, err := Parse(data, "f.yaml")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.yaml") {
				t.Fatalf("got error %v, want one that starts with the name of the file", err)
			}
			return
		}
		s.Fill()
		s.Validate() // must not panic
		for _, text := range [][]byte{s.YAML(), s.JSON()} {
			again, _, err := Parse(text, "again")
			if err != nil || !reflect.DeepEqual(again, s) {
				t.Fatalf("%+v\nis written as\n%s\nand read as\n%+v, %v", s, text, again, err)
			}
		}
	})
}
