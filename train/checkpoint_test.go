package train

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
)

// newCheckpoint returns a checkpoint of a small fit in a temporary folder.
func newCheckpoint(t *testing.T) *checkpoint {
	s := spec.Spec{Data: spec.Data{Target: "y", Modes: []string{"a", "b"}}, Uncertainty: spec.Uncertainty{Inference: "entity-covariance"}}
	s.Fill()
	return &checkpoint{folder: t.TempDir(), spec: s, data: "d", split: "p", side: "s", path: "generic"}
}

func TestCheckpointRoundTrip(t *testing.T) {
	t.Parallel()
	c := newCheckpoint(t)
	if got, err := c.load(); got != nil || err != nil {
		t.Fatalf("empty folder: got %v, %v; want neither", got, err)
	}
	want := &solver.State{Run: solver.Run{Sweep: 3, Block: 1, BestSweep: 2, BestScore: 0.5, Rate: 0.1, Raised: 4, Step: 5,
		Weights: []float32{1, 2}, Best: []float32{3}, Memory: [][]float32{{4}, {5, 6}}},
		Leader: solver.Run{Sweep: 1, Weights: []float32{7}, Best: []float32{8}, Memory: [][]float32{}}}
	if err := c.Save(want); err != nil {
		t.Fatal(err)
	}
	got, err := c.load()
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
		change func(*checkpoint)
		want   string // in the error; "" for none
	}{
		{func(*checkpoint) {}, ""},
		{func(c *checkpoint) { c.spec.Seed = 2 }, "the specification differs"},
		{func(c *checkpoint) { c.data = "other" }, "the data differs"},
		{func(c *checkpoint) { c.split = "other" }, "the split differs"},
		{func(c *checkpoint) { c.side = "other" }, "the side information differs"},
		{func(c *checkpoint) { c.path = "avx512" }, "it was made with generic instructions, this run uses avx512"},
	} {
		other := *saved
		c.change(&other)
		_, err := other.load()
		var mismatch *CheckpointError
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
	if _, err := c.load(); err != nil {
		t.Errorf("got error %v, want none", err)
	}
}
