package train

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
)

// A checkpoint saves the state of a fit in one file of a folder. The file also identifies
// the fit: a resumed fit gives the same bits only with the same specification, data,
// split, side information and CPU instructions.
type checkpoint struct {
	folder string
	spec   spec.Spec
	data   string // hash of the table
	split  string // hash of the parts
	side   string // hash of the side information
	path   string // CPU instructions of the backend
}

func (c *checkpoint) file() string { return filepath.Join(c.folder, "checkpoint.kft") }

// prepare creates the folder.
func (c *checkpoint) prepare() error {
	if err := os.MkdirAll(c.folder, 0o777); err != nil {
		return fmt.Errorf("creating the checkpoint folder: %w", err)
	}
	return nil
}

// runMeta holds the fields of a solver.Run other than its arrays. Its JSON keys are part
// of the file format.
type runMeta struct {
	Sweep, Block, BestSweep, Restarts, Memory int
	Points                                    []solver.Point
	BestScore, Rate                           float64
	Raised, Step                              int64
	Attempt, StartSweeps, StartSweep          int
	StartScore, Reference                     float64
	Stop                                      solver.Stop
	Tempered                                  bool    `json:",omitempty"`
	Shape                                     [][]int `json:",omitempty"`
	PruneAt                                   int     `json:",omitempty"`
}

// Save implements solver.Checkpointer.
func (c *checkpoint) Save(s *solver.State) error {
	f := &modelfile.File{Meta: map[string]string{"kind": "checkpoint", "data": c.data, "split": c.split, "side": c.side, "cpu": c.path}}
	put := func(key string, v any) error {
		text, err := json.Marshal(v)
		f.Meta[key] = string(text)
		return err
	}
	err := errors.Join(put("spec", c.spec), put("trials", s.Trials), put("done", s.Done), put("stop", s.Stop))
	for name, run := range map[string]*solver.Run{"run": &s.Run, "leader": &s.Leader} {
		err = errors.Join(err, put(name, runMeta{run.Sweep, run.Block, run.BestSweep, run.Restarts, len(run.Memory),
			run.Points, run.BestScore, run.Rate, run.Raised, run.Step,
			run.Attempt, run.StartSweeps, run.StartSweep, run.StartScore, run.Reference, run.Stop, run.Tempered, run.Shape, run.PruneAt}))
	}
	if err != nil {
		return err
	}
	for _, named := range []struct {
		name string
		run  *solver.Run
	}{{"run", &s.Run}, {"leader", &s.Leader}} {
		for what, values := range arrays(named.run) {
			f.Tensors = append(f.Tensors, modelfile.NewTensor(fmt.Sprintf("%s/%d", named.name, what), values, len(values)))
		}
	}
	return modelfile.Write(c.file(), f)
}

// arrays returns the arrays of a run in a fixed order.
func arrays(r *solver.Run) [][]float32 {
	return append([][]float32{r.Weights, r.Best}, r.Memory...)
}

// load reads the checkpoint of the folder, nil if there is none yet.
func (c *checkpoint) load() (*solver.State, error) {
	f, err := modelfile.Read(c.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w; remove it to start from the beginning", err)
	}
	if err := c.matches(f); err != nil {
		return nil, err
	}
	s := &solver.State{}
	get := func(key string, v any) error { return json.Unmarshal([]byte(f.Meta[key]), v) }
	err = errors.Join(get("trials", &s.Trials), get("done", &s.Done), get("stop", &s.Stop),
		loadRun(f, "run", &s.Run), loadRun(f, "leader", &s.Leader))
	if err != nil {
		return nil, &modelfile.FormatError{File: c.file(), Problem: err.Error()}
	}
	return s, nil
}

// loadRun reads what Save wrote of one run.
func loadRun(f *modelfile.File, name string, r *solver.Run) error {
	var m runMeta
	if err := json.Unmarshal([]byte(f.Meta[name]), &m); err != nil {
		return err
	}
	*r = solver.Run{Sweep: m.Sweep, Block: m.Block, BestSweep: m.BestSweep, Restarts: m.Restarts, Points: m.Points,
		BestScore: m.BestScore, Rate: m.Rate, Raised: m.Raised, Step: m.Step,
		Attempt: m.Attempt, StartSweeps: m.StartSweeps, StartSweep: m.StartSweep, StartScore: m.StartScore, Reference: m.Reference, Stop: m.Stop, Tempered: m.Tempered, Shape: m.Shape, PruneAt: m.PruneAt, Memory: make([][]float32, m.Memory)}
	for what := range 2 + m.Memory {
		values, err := modelfile.Values[float32](f, fmt.Sprintf("%s/%d", name, what), -1)
		if err != nil {
			return err
		}
		switch what {
		case 0:
			r.Weights = values
		case 1:
			r.Best = values
		default:
			r.Memory[what-2] = values
		}
	}
	return nil
}

// A CheckpointError reports a checkpoint that belongs to another fit.
type CheckpointError struct{ File, Problem string }

func (e *CheckpointError) Error() string {
	return fmt.Sprintf("%s belongs to another fit: %s; use another folder, or start again without resuming", e.File, e.Problem)
}

// matches returns a *CheckpointError for a checkpoint of another fit.
func (c *checkpoint) matches(f *modelfile.File) error {
	refuse := func(what string) error { return &CheckpointError{File: c.file(), Problem: what} }
	if f.Meta["kind"] != "checkpoint" {
		return refuse("it is not a checkpoint")
	}
	same, err := c.sameSpec(f.Meta["spec"])
	if err != nil {
		return &modelfile.FormatError{File: c.file(), Problem: err.Error()}
	}
	switch {
	case !same:
		return refuse("the specification differs")
	case f.Meta["data"] != c.data:
		return refuse("the data differs")
	case f.Meta["split"] != c.split:
		return refuse("the split differs")
	case f.Meta["side"] != c.side:
		return refuse("the side information differs")
	case f.Meta["cpu"] != c.path:
		return refuse(fmt.Sprintf("it was made with %s instructions, this run uses %s (the environment variable KFT_CPU selects them)", f.Meta["cpu"], c.path))
	}
	return nil
}

// sameSpec reports whether text is the specification of c, possibly in the spelling of
// an earlier version.
func (c *checkpoint) sameSpec(text string) (bool, error) {
	var saved spec.Spec
	if err := json.Unmarshal([]byte(text), &saved); err != nil {
		return false, err
	}
	then, err := json.Marshal(saved)
	if err != nil {
		return false, err
	}
	now, err := json.Marshal(c.spec)
	return string(then) == string(now), err
}
