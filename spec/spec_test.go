package spec

import (
	"encoding/json"
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
		t.Errorf("read %+v\nwant %+v", got, want)
	}
	got.Fill()
	if err := got.Validate(); err != nil {
		t.Errorf("not valid: %v", err)
	}
	terms, err := got.ParseTerms()
	if err != nil || len(terms) != 2 || terms[1].Ranks[0] != 2 {
		t.Errorf("terms %v, %v", terms, err)
	}
}

func TestParseRefuses(t *testing.T) {
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
		{"no YAML", "version: 1\ndata: {a: [\n", []string{"f.yaml:2:", "not valid YAML"}},
		{"two documents", "version: 1\n---\nversion: 1\n", []string{"f.yaml:3:", "a second document"}},
		{"no version", "seed: 3\n", []string{"version: missing; write version: 1"}},
		{"newer", "version: 2\nzeal: 3\n", []string{"f.yaml:1:10: version: 2 was made for a newer kft; this one reads version 1"}},
		{"strange version", "version: one\n", []string{`version: "one" is not a version`}},
		{"unknown keys", "version: 1\nfit:\n  sweps: 3\nsede: 1\n", []string{
			`f.yaml:3:3: fit.sweps: unknown key (did you mean "sweeps"?)`, "f.yaml:4:1: sede: unknown key"}},
		{"key of another section", "version: 1\nsweeps: 3\n", []string{"sweeps: unknown key here; it belongs under fit"}},
		{"key of the top", "version: 1\ndata: {transform: sqrt}\n", []string{"data.transform: unknown key here; it belongs at the top"}},
		{"key of nowhere", "version: 1\nzzzzz: sqrt\n", []string{"there are version, data, split"}},
		{"key twice", "version: 1\nseed: 3\nseed: 4\n", []string{"f.yaml:3:1:", "seed"}},
		{"word for number", "version: 1\nfit: {sweeps: many}\n", []string{`f.yaml:2:15: fit.sweeps: "many" is not a whole number, 1 or more`}},
		{"zero", "version: 1\nfit: {sweeps: 0, rate: 0}\nseed: 0\n", []string{"fit.sweeps", "fit.learning-rate", "seed"}},
		{"fraction", "version: 1\nseed: 1.5\n", []string{`seed: "1.5" is not a whole number`}},
		{"not a number", "version: 1\nfit: {rate: .nan, batch: .inf}\n", []string{"fit.learning-rate", "fit.batch"}},
		{"lambda", "version: 1\nfit: {lambda: -1}\n", []string{`fit.lambda: "-1" is neither a number, 0 or more, nor auto`}},
		{"list for value", "version: 1\nsplit: [a, b]\n", []string{"split: must be a single value, not a list"}},
		{"value for list", "version: 1\nterms: a,b:3\n", []string{"f.yaml:2:8: terms: must be a list"}},
		{"value for section", "version: 1\ndata: sales.csv\n", []string{"data: needs keys below it"}},
		{"keys in a list", "version: 1\nterms:\n  - {a: b}\n  -\n", []string{"terms[0]: must be a single value, not keys and values", "terms[1]: must be a single value, not nothing"}},
		{"alias", "version: 1\nsplit: &x a\ntransform: *x\n", []string{"split: must be a single value, not an anchor", "transform: must be a single value, not an anchor"}},
		{"key that is no word", "version: 1\n[a]: 1\n", []string{"f.yaml:2:"}},
	} {
		_, _, err := Parse([]byte(c.text), "f.yaml")
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error\n%v\nlacks %q", c.name, err, want)
			}
		}
		var problems Problems
		if !errors.As(err, &problems) || len(problems) == 0 {
			t.Errorf("%s: %T is not Problems", c.name, err)
		}
	}
}

func TestScalarsKeepTheirText(t *testing.T) {
	got, _, err := Parse([]byte("version: 1\ndata: {target: 007, weight: true, modes: [1e3, 0x1F, ~x, yes, \"a\\tb\"]}\n"), "f")
	if err != nil {
		t.Fatal(err)
	}
	want := Data{Target: "007", Weight: "true", Modes: []string{"1e3", "0x1F", "~x", "yes", "a\tb"}}
	if !reflect.DeepEqual(got.Data, want) {
		t.Errorf("read %q, want %q", got.Data, want)
	}
}

func TestFill(t *testing.T) {
	s := Spec{Data: Data{Modes: []string{"store", "time=year+month", "hour(ts)"}}, Fit: Fit{Solver: "adam", Epochs: 3}, Seed: 7}
	s.Fill()
	want := Default()
	want.Data.Modes, want.Seed, want.Fit.Solver, want.Fit.Epochs = s.Data.Modes, 7, "adam", 3
	want.Terms = []string{"store,time,hour:20"}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("filled %+v\nwant %+v", s, want)
	}
	for text, want := range map[string]string{"true": "yes", "false": "no", "no": "no", "": "yes"} {
		s := Spec{Side: Side{Intercept: text}}
		if s.Fill(); s.Side.Intercept != want {
			t.Errorf("intercept %q is %q", text, s.Side.Intercept)
		}
	}
	d := Default()
	d.Fill()
	if !reflect.DeepEqual(d, Default()) {
		t.Errorf("filling changes the defaults: %+v", d)
	}
}

func TestFillLeavesNothingZero(t *testing.T) {
	s := Default()
	for _, section := range []any{s, s.Fit} {
		for tag, v := range fieldsOf(reflect.ValueOf(section)) {
			if v.IsZero() && tag.key != "terms" && tag.key != "lambda" && tag.key != "search" {
				t.Errorf("%s has no default", tag.key)
			}
		}
	}
}

func TestValidate(t *testing.T) {
	valid := Spec{Data: Data{Target: "y", Modes: []string{"store", "item", "time=year+month"}}}
	valid.Fill()
	if err := valid.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		spoil func(*Spec)
		want  []string
	}{
		{"version", func(s *Spec) { s.Version = 3 }, []string{"version: 3 was made for a newer kft"}},
		{"target", func(s *Spec) { s.Data.Target = "" }, []string{"data.target: none given"}},
		{"weight", func(s *Spec) { s.Data.Weight = "y" }, []string{`data.weight: column "y" is the target`}},
		{"target as mode", func(s *Spec) { s.Data.Target = "item" }, []string{`data.modes[1]: column "item" is the target`}},
		{"no modes", func(s *Spec) { s.Data.Modes, s.Terms = nil, nil }, []string{"data.modes: none given"}},
		{"mode twice", func(s *Spec) { s.Data.Modes[1] = "store" }, []string{`data.modes[1]: the name "store" is that of data.modes[0] already`}},
		{"mode of no column", func(s *Spec) { s.Data.Modes[2] = "time=" }, []string{"data.modes[2]", "column's name is missing"}},
		{"mode of no name", func(s *Spec) { s.Data.Modes[2] = "=year" }, []string{"data.modes[2]", "name before '=' is missing"}},
		{"mode with syntax", func(s *Spec) { s.Data.Modes[0] = "a: b" }, []string{"data.modes[0]", "=a: b"}},
		{"file", func(s *Spec) { s.Data.Files = []string{"a", ""} }, []string{"data.files[1]: the name is empty"}},
		{"delimiter", func(s *Spec) { s.Data.Delimiter = "coma" }, []string{`data.delimiter: "coma" cannot be a delimiter`, "comma"}},
		{"delimiter character", func(s *Spec) { s.Data.Delimiter = "\n" }, []string{`data.delimiter: "\n" cannot be`}},
		{"header", func(s *Spec) { s.Data.Header = "true" }, []string{"data.header", "use auto, yes or no"}},
		{"duplicates", func(s *Spec) { s.Data.Duplicates = "first" }, []string{"data.duplicates"}},
		{"split", func(s *Spec) { s.Split = "randm:60/20/20" }, []string{`split: split "randm`, "random"}},
		{"transform", func(s *Spec) { s.Transform = "log" }, []string{`transform: "log" is not known; use identity, log1p, sqrt, cbrt1p or auto`}},
		{"no terms", func(s *Spec) { s.Terms = nil }, []string{"terms: none given; write at least one, such as store,item,time:20"}},
		{"term", func(s *Spec) { s.Terms = []string{"store", "stores,item:3"} },
			[]string{`terms[1]: mode "stores" is not among the modes (did you mean "store"?)`}},
		{"term twice", func(s *Spec) { s.Terms = []string{"store,item:3", "store, item:3"} }, []string{"terms[1]: store,item:3 is terms[0] already"}},
		{"solver", func(s *Spec) { s.Fit.Solver = "adan" }, []string{`fit.solver: "adan"`, `"adam"`}},
		{"ridge", func(s *Spec) { s.Fit.Ridge = "" }, []string{"fit.ridge"}},
		{"counts", func(s *Spec) { s.Fit.Sweeps, s.Fit.Patience, s.Fit.CGSteps, s.Fit.Epochs = -1, 0, 0, 0 },
			[]string{"fit.sweeps: -1 must be 1 or more", "fit.patience", "fit.cg-steps", "fit.epochs"}},
		{"rate", func(s *Spec) { s.Fit.LearningRate = -1 }, []string{"fit.rate: -1"}},
		{"batch", func(s *Spec) { s.Fit.Batch = 1.5 }, []string{"fit.batch: 1.5 is not a share from 0.01 to 1"}},
		{"schedule", func(s *Spec) { s.Fit.Schedule = "blocks" }, []string{"fit.schedule", `"block"`}},
		{"seed", func(s *Spec) { s.Seed = 0 }, []string{"seed: must be 1 or more"}},
		{"bytes", func(s *Spec) { s.Data.Files = []string{"a\xff"} }, []string{`data.files[0]: "a\xff" is not valid UTF-8`}},
	} {
		s := valid
		s.Data.Modes = append([]string(nil), valid.Data.Modes...)
		c.spoil(&s)
		err := s.Validate()
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error\n%v\nlacks %q", c.name, err, want)
			}
		}
	}
}

func TestValidateListsEveryProblem(t *testing.T) {
	err := Spec{}.Validate()
	var problems Problems
	if !errors.As(err, &problems) {
		t.Fatalf("%T is not Problems", err)
	}
	var paths []string
	for _, p := range problems {
		paths = append(paths, p.Path)
	}
	want := "version data.target data.modes data.header data.duplicates split transform " +
		"side.variant side.space side.intercept side.length-scales side.columns " +
		"uncertainty.inference uncertainty.likelihood uncertainty.noise-use uncertainty.moments uncertainty.noise uncertainty.conformal " +
		"fit.solver fit.ridge fit.sweeps fit.patience fit.cg-steps fit.epochs fit.rate fit.batch fit.schedule seed"
	if got := strings.Join(paths, " "); got != want {
		t.Errorf("problems at\n%s\nwant\n%s", got, want)
	}
}

func TestYAMLReadsBack(t *testing.T) {
	rich := Spec{
		Data: Data{
			Files:  []string{"a b.csv", "-", "c:\\d.csv", "tab\there", "# no comment", "'quoted'", "\"q\"", "née", "\u2028", "日本"},
			Target: "null", Weight: "yes", Modes: []string{"store", "1", "time=year+month", "hour(ts)"},
			Delimiter: "\t", Header: "no", Duplicates: "sum",
		},
		Split: "entity:store=10%", Transform: "sqrt", Terms: []string{"store*1,time:2", "hour"},
		Fit:    Fit{Solver: "adam", Ridge: "frequency", Lambda: LambdaOf(1e-7), LearningRate: 1e-12, Batch: 0.1, Schedule: "block"},
		Seed:   1<<64 - 1,
		Search: Search{"rank.1": {"4..64"}, "side.a b: c": {"use", "none"}, "rate": {"0.1", "yes", ""}},
	}
	for name, s := range map[string]Spec{"zero": {}, "default": Default(), "rich": rich} {
		filled := s
		filled.Fill()
		for form, text := range map[string][]byte{"YAML": s.YAML(), "JSON": s.JSON()} {
			got, _, err := Parse(text, name)
			if err != nil {
				t.Errorf("%s: own %s is refused: %v\n%s", name, form, err, text)
				continue
			}
			if !reflect.DeepEqual(got, filled) {
				t.Errorf("%s: %s reads back as\n%+v\nwant\n%+v\n%s", name, form, got, filled, text)
			}
		}
		var got Spec
		if err := json.Unmarshal(s.JSON(), &got); err != nil || string(got.JSON()) != string(s.JSON()) {
			t.Errorf("%s: encoding/json reads %+v, %v", name, got, err)
		}
	}
}

func TestYAMLHasACommentAKey(t *testing.T) {
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
				t.Errorf("%s is not in\n%s", tag.key, text)
			}
			if isSection(v) {
				check(v, indent+"  ")
			}
		}
	}
	check(reflect.ValueOf(Spec{}), "")
}

func TestLambda(t *testing.T) {
	for text, want := range map[string]Lambda{"auto": {}, "0": LambdaOf(0), "2.5": LambdaOf(2.5), "1e-9": LambdaOf(1e-9), "-0": LambdaOf(0)} {
		var got Lambda
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q is read as %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "much", "-1", "NaN", "Inf", "-Inf"} {
		var got Lambda
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
	if _, given := (Lambda{}).Value(); given {
		t.Error("the zero value is given")
	}
	if v, given := LambdaOf(0).Value(); v != 0 || !given {
		t.Errorf("0 is %v, %v", v, given)
	}
	if text, _ := (Lambda{}).MarshalText(); string(text) != "auto" {
		t.Errorf("text of auto is %q", text)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(iowa))
	f.Add(Default().YAML())
	f.Add(Default().JSON())
	f.Add([]byte("version: 1\nsearch: {rank.1: 4..64, rate: [0.1, 1e-3], a: '', kernel: ~, 7: [no]}\n"))
	f.Add([]byte("version: 1\ndata: {files: [\"a\\u0041\", 'b''c', |\n x]}\n"))
	f.Add([]byte("version: 1\nfit: &a {lambda: 3}\nterms:\n- a,b:3\n-\n"))
	f.Add([]byte("%YAML 1.2\n---\nversion: 1\n...\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, _, err := Parse(data, "f.yaml")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.yaml") {
				t.Fatalf("error without the file's name: %v", err)
			}
			return
		}
		s.Fill()
		s.Validate() // must not panic
		for _, text := range [][]byte{s.YAML(), s.JSON()} {
			again, _, err := Parse(text, "again")
			if err != nil || !reflect.DeepEqual(again, s) {
				t.Fatalf("%+v\nis written as\n%s\nand read back as\n%+v, %v", s, text, again, err)
			}
		}
	})
}
