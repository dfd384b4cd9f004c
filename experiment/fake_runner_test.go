package experiment

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/spec"
)

// A fakeRunner records its calls. The measures of a fit follow from the seed and the
// terms of its specification.
type fakeRunner struct {
	t       *testing.T
	calls   []string
	dieAt   string           // the call at which the process ends, as if killed
	failAt  map[string]error // calls that fail
	onDeath func()           // called at dieAt in place of the end of the process, as by Ctrl-C
}

// killed is the panic that stands for the end of the process.
type killed struct{}

func (f *fakeRunner) call(ctx context.Context, call string) error {
	f.calls = append(f.calls, call)
	if call == f.dieAt {
		if f.onDeath == nil {
			panic(killed{})
		}
		f.onDeath()
		return ctx.Err()
	}
	return f.failAt[call]
}

func baseName(file string) string {
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}

func (f *fakeRunner) Split(ctx context.Context, data spec.Data, split Split, to string) error {
	if err := f.call(ctx, "split "+strings.TrimSuffix(baseName(to), ".csv")); err != nil {
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

func (f *fakeRunner) Tune(ctx context.Context, task TuneTask) (map[string]string, Usage, error) {
	if _, err := os.Stat(task.Study); err == nil {
		f.calls = append(f.calls, "resume")
	}
	if err := os.WriteFile(task.Study, []byte("trials"), 0o666); err != nil {
		return nil, task.Used, err
	}
	if err := f.call(ctx, "tune "+baseName(task.Spec)); err != nil {
		return nil, task.Used.Add(Usage{Seconds: 1}), err
	}
	best := f.read(task.Spec)
	best.Terms = []string{"store,item:7"}
	return map[string]string{"rank.1": "7"}, task.Used.Add(Usage{Seconds: 5, CPU: 9, PeakRSS: 1 << 20}), os.WriteFile(task.Best, best.YAML(), 0o666)
}

func (f *fakeRunner) read(specFile string) spec.Spec {
	text, err := os.ReadFile(specFile)
	if err != nil {
		f.t.Fatal(err)
	}
	s, _, err := spec.Parse(text, specFile)
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

func (f *fakeRunner) Fit(ctx context.Context, specFile, modelFile string) (Fitted, error) {
	if err := f.call(ctx, "fit "+baseName(specFile)); err != nil {
		return Fitted{}, err
	}
	s := f.read(specFile)
	return Fitted{Usage: Usage{Seconds: 2, CPU: 3, PeakRSS: 2 << 20},
		Test: Measures{"r2": json.RawMessage(fmt.Sprintf("0.%d", s.Seed)), "terms": json.RawMessage(fmt.Sprintf("%q", s.Terms[0]))}}, nil
}

// setup changes to a new folder with a table and a specification.
func setup(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	write(t, "sales.csv", "store,item,units\na,b,1\n")
	write(t, "specs/kft.yaml", "version: 1\ndata: {files: [sales.csv], target: units, modes: [store, item]}\n")
}

func write(t *testing.T, file, text string) {
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
	write(t, "specs/x.yaml", text)
	exp, err := Load("specs/x.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return exp
}

// start runs the experiment to its end, or until the runner dies, and returns the lines
// of progress.
func start(t *testing.T, exp Spec, f *fakeRunner, change ...func(*Options)) (done Done, progress []string, err error) {
	t.Helper()
	f.t = t
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if f.onDeath != nil {
		f.onDeath = cancel
	}
	opt := Options{Runner: f, Tool: "fake 1", Progress: func(line string) { progress = append(progress, line) }}
	for _, c := range change {
		c(&opt)
	}
	defer func() {
		if p := recover(); p != nil {
			if _, expected := p.(killed); !expected {
				panic(p)
			}
			err = errors.New("killed")
		}
	}()
	done, err = Run(ctx, exp, opt)
	return done, progress, err
}
