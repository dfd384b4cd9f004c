package experiment

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/spec"
)

// A fake stands for the work: it notes what it is asked for, and the fit of a cell
// gives what its name and split say.
type fake struct {
	t      *testing.T
	calls  []string
	dies   string           // the call at which the process ends, as a kill does
	fails  map[string]error // calls that fail
	cancel func()           // called at the call that dies, as by Ctrl-C
}

// killed stands for the end of the process.
type killed struct{}

func (f *fake) note(ctx context.Context, call string) error {
	f.calls = append(f.calls, call)
	if call == f.dies {
		if f.cancel == nil {
			panic(killed{})
		}
		f.cancel()
		return ctx.Err()
	}
	return f.fails[call]
}

func base(file string) string { return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) }

func (f *fake) Split(ctx context.Context, data spec.Data, split Split, to string) error {
	if err := f.note(ctx, "split "+strings.TrimSuffix(base(to), ".csv")); err != nil {
		return err
	}
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	defer file.Close()
	z := gzip.NewWriter(file)
	fmt.Fprintf(z, "part\ntrain\n%s %d\n", split.Split, split.Seed)
	return z.Close()
}

func (f *fake) Tune(ctx context.Context, task TuneTask) (map[string]string, Usage, error) {
	if _, err := os.Stat(task.Study); err == nil {
		f.calls = append(f.calls, "resume")
	}
	if err := os.WriteFile(task.Study, []byte("trials"), 0o666); err != nil {
		return nil, task.Used, err
	}
	if err := f.note(ctx, "tune "+base(task.Spec)); err != nil {
		return nil, task.Used.Add(Usage{Seconds: 1}), err
	}
	spec := f.spec(task.Spec)
	spec.Terms = []string{"store,item:7"}
	return map[string]string{"rank.1": "7"}, task.Used.Add(Usage{Seconds: 5, CPU: 9, PeakRSS: 1 << 20}), os.WriteFile(task.Best, spec.YAML(), 0o666)
}

func (f *fake) spec(file string) spec.Spec {
	text, err := os.ReadFile(file)
	if err != nil {
		f.t.Fatal(err)
	}
	spec, _, err := spec.Parse(text, file)
	if err != nil {
		f.t.Fatal(err)
	}
	return spec
}

func (f *fake) Fit(ctx context.Context, spec, model string) (Fitted, error) {
	call := "fit " + base(spec)
	if err := f.note(ctx, call); err != nil {
		return Fitted{}, err
	}
	s := f.spec(spec)
	return Fitted{Usage: Usage{Seconds: 2, CPU: 3, PeakRSS: 2 << 20},
		Test: Measures{"r2": json.RawMessage(fmt.Sprintf("0.%d", s.Seed)), "terms": json.RawMessage(fmt.Sprintf("%q", s.Terms[0]))}}, nil
}

// setup moves to a folder with a table and a specification.
func setup(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	put(t, "sales.csv", "store,item,units\na,b,1\n")
	put(t, "specs/kft.yaml", "version: 1\ndata: {files: [sales.csv], target: units, modes: [store, item]}\n")
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

const twoConfigurations = `version: 1
name: x
output: out
split: 'random:60/20/20'
seeds: [4, 5]
configurations:
  - {name: plain, spec: kft.yaml}
  - {name: tuned, spec: kft.yaml, tune: {trials: 3}, set: {fit.sweeps: 9}}
against: plain
measures: [r2]
`

func load(t *testing.T, text string) Spec {
	t.Helper()
	put(t, "specs/x.yaml", text)
	spec, err := Load("specs/x.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// start runs until the end, or until the fake dies.
func start(t *testing.T, spec Spec, f *fake, more ...func(*Options)) (done Done, said []string, err error) {
	t.Helper()
	f.t = t
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if f.cancel != nil {
		f.cancel = cancel
	}
	opt := Options{Runner: f, Tool: "fake 1", Say: func(line string) { said = append(said, line) }}
	for _, m := range more {
		m(&opt)
	}
	defer func() {
		if p := recover(); p != nil {
			if _, expected := p.(killed); !expected {
				panic(p)
			}
			err = errors.New("killed")
		}
	}()
	done, err = Run(ctx, spec, opt)
	return done, said, err
}

var wholeRun = []string{"split 1", "split 2", "tune tuned", "fit plain.1", "fit tuned.1", "fit plain.2", "fit tuned.2"}

// A run does all, split by split; another one nothing.
func TestRun(t *testing.T) {
	setup(t)
	spec := load(t, twoConfigurations)
	f := &fake{}
	done, said, err := start(t, spec, f)
	if err != nil || done != (Done{Cells: 4}) {
		t.Fatalf("%+v, %v", done, err)
	}
	if !slices.Equal(f.calls, wholeRun) {
		t.Errorf("did %q", f.calls)
	}
	if want := "cell 4 of 4: tuned, split 2: R2 0.5000 in 2.0 s"; !slices.Contains(said, want) {
		t.Errorf("said %q", said)
	}
	r, err := Read(spec.Output)
	if err != nil || len(r.Cells) != 4 || len(r.Tuning) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if c := r.cells("tuned")[2]; string(c.Test["terms"]) != `"store,item:7"` || c.Values["rank.1"] != "7" || c.Tool != "fake 1" || c.CPU != 3 {
		t.Errorf("the tuned cell of split 2 is %+v", c)
	}
	f = &fake{}
	if done, _, err := start(t, spec, f); err != nil || done.Cells != 4 || len(f.calls) > 0 {
		t.Errorf("the second run: %+v, %v, did %q", done, err, f.calls)
	}
	_, said, err = start(t, spec, f, func(o *Options) { o.Tool = "fake 2" })
	for _, want := range []string{"tuning of tuned: done before by fake 1", "cell 4 of 4: tuned, split 2: done before by fake 1: R2 0.5000 in 2.0 s"} {
		if err != nil || len(f.calls) > 0 || !slices.Contains(said, want) {
			t.Errorf("another version: %v, did %q, said %q", err, f.calls, said)
		}
	}
}

// Killed at any call, it goes on there.
func TestResumeAfterKill(t *testing.T) {
	for k, call := range wholeRun {
		for _, interrupted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", call, interrupted), func(t *testing.T) {
				setup(t)
				spec := load(t, twoConfigurations)
				f := &fake{dies: call}
				if interrupted {
					f.cancel = func() {}
				}
				_, _, err := start(t, spec, f)
				if err == nil || interrupted && !errors.Is(err, context.Canceled) {
					t.Fatalf("ended with %v", err)
				}
				f = &fake{}
				if _, _, err := start(t, spec, f); err != nil {
					t.Fatal(err)
				}
				rest := slices.Clone(wholeRun[k:])
				if call == "tune tuned" {
					r, err := Read(spec.Output)
					if want := map[bool]float64{false: 5, true: 1 + 5}[interrupted]; err != nil || r.Tuning[0].Seconds != want {
						t.Errorf("both runs together took %v s, not %v; %v", r.Tuning[0].Seconds, want, err)
					}
					rest = append([]string{"resume"}, rest...) // its study is kept
				}
				if !slices.Equal(f.calls, rest) {
					t.Errorf("the second run did %q, not %q", f.calls, rest)
				}
			})
		}
	}
}

// What has changed is done again, and nothing else.
func TestChangedDefinition(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, spec *Spec)
		want   []string
		said   string
	}{
		"specification":   {func(t *testing.T, s *Spec) { s.Configurations[0].Spec.Fit.Sweeps = 3 }, []string{"fit plain.1", "fit plain.2"}, "cell 1 of 4: plain, split 1: its definition has changed"},
		"table":           {func(t *testing.T, s *Spec) { put(t, "sales.csv", "store,item,units\na,b,2\n") }, wholeRun, "cell 1 of 4: plain, split 1: its definition has changed"},
		"a split":         {func(t *testing.T, s *Spec) { s.Splits[1].Seed = 6 }, []string{"split 2", "fit plain.2", "fit tuned.2"}, "split 2: it was another one"},
		"a damaged split": {func(t *testing.T, s *Spec) { put(t, s.Output.SplitFile(2), "half") }, []string{"split 2"}, "done before"},
		"another split file": {func(t *testing.T, s *Spec) {
			text, err := os.ReadFile(s.Output.SplitFile(1))
			if err != nil {
				t.Fatal(err)
			}
			put(t, s.Output.SplitFile(2), string(text))
		}, []string{"split 2"}, "split 2: it was another one"},
		"the search":   {func(t *testing.T, s *Spec) { s.Configurations[1].Tune.Objective = "mae" }, []string{"tune tuned"}, "tuning of tuned: its definition has changed"},
		"more trials":  {func(t *testing.T, s *Spec) { s.Configurations[1].Tune.Trials = 4 }, []string{"resume", "tune tuned"}, "4 trials"},
		"fewer trials": {func(t *testing.T, s *Spec) { s.Configurations[1].Tune.Trials = 2 }, []string{"tune tuned"}, "2 trials"},
		"the place":    {func(t *testing.T, s *Spec) { s.Name, s.Against, s.Measures = "y", "", []string{"mae"} }, nil, "done before"},
	} {
		t.Run(name, func(t *testing.T) {
			setup(t)
			spec := load(t, twoConfigurations)
			if _, _, err := start(t, spec, &fake{}); err != nil {
				t.Fatal(err)
			}
			c.change(t, &spec)
			f := &fake{}
			_, said, err := start(t, spec, f)
			if err != nil || !slices.Equal(f.calls, c.want) {
				t.Errorf("did %q, not %q; %v", f.calls, c.want, err)
			}
			if !strings.Contains(strings.Join(said, "\n"), c.said) {
				t.Errorf("said %q", said)
			}
		})
	}
}

// A cell that fails is recorded, the others go on, and the next run tries it
// again; a configuration whose tuning failed has no cells.
func TestFailedCells(t *testing.T) {
	setup(t)
	spec := load(t, twoConfigurations)
	f := &fake{fails: map[string]error{"fit plain.1": errors.New("no\nmemory"), "tune tuned": errors.New("all trials failed")}}
	done, _, err := start(t, spec, f)
	if err != nil || done != (Done{Cells: 4, Failed: 3}) {
		t.Fatalf("%+v, %v", done, err)
	}
	r, err := Read(spec.Output)
	if err != nil {
		t.Fatal(err)
	}
	if p, q := r.cells("plain")[1].Problem, r.cells("tuned")[2].Problem; p != "no memory" || q != "tuning: all trials failed" {
		t.Errorf("problems %q and %q", p, q)
	}
	f = &fake{}
	done, _, err = start(t, spec, f)
	if err != nil || done.Failed != 0 || !slices.Equal(f.calls, []string{"tune tuned", "fit plain.1", "fit tuned.1", "fit tuned.2"}) {
		t.Errorf("%+v, %v, did %q", done, err, f.calls)
	}
	spec.Configurations[1].Tune.Trials = 4 // a search that fails later takes no result away
	done, said, err := start(t, spec, &fake{fails: map[string]error{"tune tuned": errors.New("no place")}})
	if err != nil || done.Failed != 2 || !slices.Contains(said, "cell 2 of 4: tuned, split 1: failed: tuning: no place; the result of before is kept") {
		t.Errorf("%+v, %v, said %q", done, err, said)
	}
	if r, err = Read(spec.Output); err != nil || r.cells("tuned")[1].Problem != "" {
		t.Errorf("%+v, %v", r.cells("tuned")[1], err)
	}
}

// Trials of another version are gone on with, and told; cells of several are named
// under the table.
func TestSeveralVersions(t *testing.T) {
	setup(t)
	spec := load(t, twoConfigurations)
	if _, _, err := start(t, spec, &fake{dies: "fit tuned.2"}); err == nil {
		t.Fatal("did not die")
	}
	spec.Configurations[1].Tune.Trials = 4
	_, said, err := start(t, spec, &fake{}, func(o *Options) { o.Tool = "fake 2" })
	if err != nil || !slices.Contains(said, "tuning of tuned: goes on with trials by fake 1") {
		t.Errorf("%v, said %q", err, said)
	}
	r, err := Read(spec.Output)
	if err != nil || r.Tuning[0].Tool != "fake 1, fake 2" {
		t.Errorf("%+v, %v", r.Tuning, err)
	}
	s, err := Summarize(r, nil, "")
	if err != nil || !slices.Equal(s.Mixed, []string{"tuned: by fake 1, fake 2"}) {
		t.Errorf("%v, of several: %q", err, s.Mixed)
	}
}

func TestRedo(t *testing.T) {
	setup(t)
	spec := load(t, twoConfigurations)
	if _, _, err := start(t, spec, &fake{}); err != nil {
		t.Fatal(err)
	}
	f := &fake{}
	_, _, err := start(t, spec, f, func(o *Options) { o.Redo = []string{"tuned"} })
	if err != nil || !slices.Equal(f.calls, []string{"tune tuned", "fit tuned.1", "fit tuned.2"}) {
		t.Errorf("did %q, %v", f.calls, err)
	}
	// Nothing is thrown away where the work cannot be done.
	if err := os.Rename("sales.csv", "away.csv"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := start(t, spec, f, func(o *Options) { o.Redo = []string{"tuned"} }); err == nil {
		t.Error("done without a table")
	}
	if r, err := Read(spec.Output); err != nil || len(r.Cells) != 4 || len(r.Tuning) != 1 {
		t.Errorf("after a run that could not begin there are %d cells and %d tunings, %v", len(r.Cells), len(r.Tuning), err)
	}
	if _, _, err := start(t, spec, f, func(o *Options) { o.Redo = []string{"tunde"} }); err == nil || !strings.Contains(err.Error(), `did you mean "tuned"`) {
		t.Errorf("an unknown one: %v", err)
	}
}

// Tuned on each split, each has its own search, after the cells of the one before.
func TestTuneEach(t *testing.T) {
	setup(t)
	spec := load(t, strings.Replace(twoConfigurations, "trials: 3", "trials: 3, splits: each", 1))
	f := &fake{}
	if _, _, err := start(t, spec, f); err != nil {
		t.Fatal(err)
	}
	if want := []string{"split 1", "split 2", "tune tuned.1", "fit plain.1", "fit tuned.1", "tune tuned.2", "fit plain.2", "fit tuned.2"}; !slices.Equal(f.calls, want) {
		t.Errorf("did %q", f.calls)
	}
	r, err := Read(spec.Output)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Summarize(r, nil, "")
	if err != nil || s.Rows[1].Total != 2*5+2*2 {
		t.Errorf("%+v, %v", s, err)
	}
}

// What an earlier form of the experiment left behind does not count: splits it no
// longer has, and searches that its cells do not rest on.
func TestEarlierForm(t *testing.T) {
	setup(t)
	each := strings.Replace(twoConfigurations, "trials: 3", "trials: 3, splits: each", 1)
	for _, c := range []struct {
		text  string
		total float64 // of the tuned configuration
	}{
		{twoConfigurations, 5 + 2*2},
		{each, 2*5 + 2*2},
		{strings.Replace(each, "[4, 5]", "[4]", 1), 5 + 2},
		{strings.Replace(twoConfigurations, "tune: {trials: 3}, ", "", 1), 2 * 2},
	} {
		spec := load(t, c.text)
		if _, _, err := start(t, spec, &fake{}); err != nil {
			t.Fatal(err)
		}
		r, err := Read(spec.Output)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Summarize(r, nil, "")
		if err != nil || s.Splits != len(spec.Splits) || s.Rows[0].N != s.Splits || s.Rows[1].Total != c.total || s.Pairs[0].Difference.N != s.Splits {
			t.Errorf("%s\n%+v, %v", c.text, s, err)
		}
		if (len(s.Beyond) > 0) != (s.Splits == 1) {
			t.Errorf("left out %q", s.Beyond)
		}
	}
}
