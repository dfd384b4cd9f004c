package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
)

// newCheckpoint returns a checkpoint of a small fit in a temporary folder.
func newCheckpoint(t *testing.T) *Folder {
	s := spec.Spec{Data: spec.Data{Target: "y", Modes: []string{"a", "b"}}, Uncertainty: spec.Uncertainty{Inference: "entity-covariance"}}
	s.Fill()
	return &Folder{Path: t.TempDir(), Spec: s, Data: "d", Split: "p", Side: "s", CPU: "generic"}
}

func TestCheckpointRoundTrip(t *testing.T) {
	t.Parallel()
	c := newCheckpoint(t)
	if got, _, _, err := c.Load(); got != nil || err != nil {
		t.Fatalf("empty folder: got %v, %v; want neither", got, err)
	}
	want := &solver.State{Run: solver.Run{Sweep: 3, Block: 1, BestSweep: 2, BestScore: 0.5, Rate: 0.1, Raised: 4, Step: 5,
		Weights: []float32{1, 2}, Best: []float32{3}, Memory: [][]float32{{4}, {5, 6}}},
		Leader: solver.Run{Sweep: 1, BestSweep: -1, Weights: []float32{7}, Best: []float32{8}, Memory: [][]float32{}}}
	if err := c.Save(want); err != nil {
		t.Fatal(err)
	}
	got, _, _, err := c.Load()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

func TestCheckpointOfAnotherFit(t *testing.T) {
	t.Parallel()
	saved := newCheckpoint(t)
	if err := saved.Save(&solver.State{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change func(*Folder)
		want   string // in the error; "" for none
	}{
		{func(*Folder) {}, ""},
		{func(c *Folder) { c.Spec.Seed = 2 }, "the specification differs"},
		{func(c *Folder) { c.Data = "other" }, "the data differs"},
		{func(c *Folder) { c.Split = "other" }, "the split differs"},
		{func(c *Folder) { c.Side = "other" }, "the side information differs"},
		{func(c *Folder) { c.CPU = "avx512" }, "it was made with generic instructions, this run uses avx512"},
	} {
		other := *saved
		c.change(&other)
		_, _, _, err := other.Load()
		var mismatch *Error
		if errors.As(err, &mismatch) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want %q", err, c.want)
		}
	}
}

// A checkpoint of an earlier version has the old spelling of keys and values.
func TestCheckpointWithDeprecatedSpelling(t *testing.T) {
	t.Parallel()
	c := newCheckpoint(t)
	if err := c.Save(&solver.State{}); err != nil {
		t.Fatal(err)
	}
	f, err := modelfile.Read(c.file())
	if err != nil {
		t.Fatal(err)
	}
	old := strings.NewReplacer(`"learning-rate"`, `"rate"`, `"cg-steps"`, `"cgsteps"`, `"noise-use"`, `"noiseuse"`, `"length-scales"`, `"lengthscales"`,
		`"placebo"`, `"replace"`, `"entity-covariance"`, `"rows"`).Replace(f.Meta["spec"])
	if old == f.Meta["spec"] {
		t.Fatalf("%s has nothing to respell", old)
	}
	f.Meta["spec"] = old
	if err := modelfile.Write(c.file(), f); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := c.Load(); err != nil {
		t.Errorf("got error %v, want none", err)
	}
}

// TestCheckpointsOfOtherVersions checks that a checkpoint of another program or format is
// refused with the reason.
func TestCheckpointsOfOtherVersions(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ key, value, want string }{
		{"program", "v9.9.9", `it was made by version "v9.9.9" of kft`},
		{"checkpoint_format", "3", "its format version is 3, and this program reads version 2"},
		{"checkpoint_format", "x", `its format version is "x"`},
		{"checkpoint_format", "", "it was made by kft 0.1"},
	} {
		c := newCheckpoint(t)
		if err := c.Save(&solver.State{}); err != nil {
			t.Fatal(err)
		}
		change(t, c.file(), func(f *modelfile.File) {
			f.Meta[x.key] = x.value
			if x.value == "" {
				delete(f.Meta, x.key)
			}
		})
		_, _, _, err := c.Load()
		var other *Error
		if !errors.As(err, &other) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s %q: got error %v, want one with %q", x.key, x.value, err, x.want)
		}
	}
}

// change rewrites a file, with a right checksum.
func change(t *testing.T, file string, change func(*modelfile.File)) {
	t.Helper()
	f, err := modelfile.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	change(f)
	if err := modelfile.Write(file, f); err != nil {
		t.Fatal(err)
	}
}

// TestCheckpointBeforeIsUsed checks that the last two checkpoints are kept, and that the
// older one is used with a note if the newer one is damaged or was not written.
func TestCheckpointBeforeIsUsed(t *testing.T) {
	t.Parallel()
	for _, damage := range []struct {
		name string
		do   func(file string) error
		note string
	}{
		{"truncated", func(file string) error { return os.Truncate(file, 100) }, "the checkpoint before it is used"},
		{"missing", os.Remove, ""},
		{"invalid", func(file string) error {
			change(t, file, func(f *modelfile.File) { f.Meta["run"] = strings.Replace(f.Meta["run"], `"Block":0`, `"Block":-1`, 1) })
			return nil
		}, "not a valid checkpoint"},
	} {
		c := newCheckpoint(t)
		for sweep := range 3 {
			if err := c.Save(&solver.State{Run: solver.Run{Sweep: sweep}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := damage.do(c.file()); err != nil {
			t.Fatal(err)
		}
		s, from, note, err := c.Load()
		if err != nil || s.Run.Sweep != 1 || from != c.previous() || !strings.Contains(note, damage.note) {
			t.Errorf("%s: got %+v from %s with note %q, error %v; want sweep 1 from %s", damage.name, s, from, note, err, c.previous())
		}
	}
}

// TestInvalidCheckpoints checks that numbers that no fit saves are errors.
func TestInvalidCheckpoints(t *testing.T) {
	t.Parallel()
	for old, changed := range map[string]string{`"Block":0`: `"Block":-1`, `"Memory":0`: `"Memory":1099511627776`, `"Sweep":0,`: `"Sweep":-3,`} {
		c := newCheckpoint(t)
		if err := c.Save(&solver.State{}); err != nil {
			t.Fatal(err)
		}
		change(t, c.file(), func(f *modelfile.File) { f.Meta["run"] = strings.Replace(f.Meta["run"], old, changed, 1) })
		_, _, _, err := c.Load()
		if !errors.Is(err, modelfile.ErrFormat) || !strings.Contains(err.Error(), "not a valid checkpoint") {
			t.Errorf("%s: got error %v, want one that says that the checkpoint is not valid", changed, err)
		}
	}
}

// TestCheckpointFolderIsLocked checks that a second fit cannot use the folder.
func TestCheckpointFolderIsLocked(t *testing.T) {
	t.Parallel()
	c := newCheckpoint(t)
	if err := c.Open(false); err != nil {
		t.Fatal(err)
	}
	other := *c
	if err := other.Open(true); err == nil || !strings.Contains(err.Error(), "another fit saves its checkpoints in this folder") {
		t.Errorf("got error %v, want one about another fit", err)
	}
	c.Close()
	if err := other.Open(true); err != nil {
		t.Errorf("after the end of the first: got error %v, want none", err)
	}
	other.Close()
}

// TestCheckpointIsNotOverwritten checks that a fit that does not resume keeps the
// checkpoint of an earlier one.
func TestCheckpointIsNotOverwritten(t *testing.T) {
	t.Parallel()
	c := newCheckpoint(t)
	if err := c.Save(&solver.State{}); err != nil {
		t.Fatal(err)
	}
	var exists *ExistsError
	if err := c.Open(false); !errors.As(err, &exists) || !strings.Contains(err.Error(), "resume that fit, use another folder, or delete the file") {
		t.Errorf("got error %v, want a *ExistsError", err)
	}
	if err := c.Open(true); err != nil {
		t.Errorf("with resume: got error %v, want none", err)
	}
	c.Close()
}

// TestUnwritableCheckpointIsAWarning checks that a fit goes on if its checkpoints cannot
// be written, that it warns once, and that the checkpoint before stays.
func TestUnwritableCheckpointIsAWarning(t *testing.T) {
	t.Parallel()
	c := newCheckpoint(t)
	var warnings []string
	c.Warn = func(text string) { warnings = append(warnings, text) }
	if err := c.Save(&solver.State{Run: solver.Run{Sweep: 7}}); err != nil {
		t.Fatal(err)
	}
	good := c.Path
	c.Path = filepath.Join(good, "gone") // no folder: nothing can be written
	for range 2 {
		if err := c.Save(&solver.State{}); err != nil {
			t.Fatalf("got error %v, want a warning", err)
		}
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "training goes on") {
		t.Errorf("got warnings %q, want one", warnings)
	}
	c.Path = good
	if s, _, _, err := c.Load(); err != nil || s.Run.Sweep != 7 {
		t.Errorf("got %+v, %v; want the state of sweep 7", s, err)
	}
}
