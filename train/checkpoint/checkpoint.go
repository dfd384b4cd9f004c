// Package checkpoint saves the state of a fit in a folder, and continues from it.
package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
	"github.com/kernel-fried-tensor/kft/internal/buildinfo"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
)

// format is the version of the content of a checkpoint. Checkpoints without a
// version are those of 0.1.
const format = 2

// A Folder saves the state of a fit: the last two states, so that one is left if the other
// is damaged. A file also identifies the fit: a resumed fit gives the same bits only with the
// same program, specification, data, split, side information and CPU instructions.
type Folder struct {
	Path string
	Warn func(string) // receives what is wrong with the folder, while training goes on; may be nil

	Spec  spec.Spec
	Data  string // hash of the table
	Split string // hash of the parts
	Side  string // hash of the side information
	CPU   string // instructions of the backend

	release func() // ends the lock of the folder
	failed  bool   // the last save failed
}

func (c *Folder) file() string     { return filepath.Join(c.Path, "checkpoint.kft") }
func (c *Folder) previous() string { return filepath.Join(c.Path, "checkpoint-before.kft") }

// Open creates and locks the folder. A folder with a checkpoint that the fit does not
// resume is a *ExistsError.
func (c *Folder) Open(resume bool) error {
	if err := os.MkdirAll(c.Path, 0o777); err != nil {
		return fmt.Errorf("creating the checkpoint folder: %w", err)
	}
	release, err := atomicfile.Hold(filepath.Join(c.Path, "checkpoint.lock"))
	if errors.Is(err, atomicfile.ErrHeld) {
		return fmt.Errorf("%s: another fit saves its checkpoints in this folder; wait for its end, or use another folder", c.Path)
	}
	if err != nil {
		return fmt.Errorf("locking the checkpoint folder: %w", err)
	}
	if !resume {
		for _, file := range []string{c.file(), c.previous()} {
			if _, err := os.Lstat(file); err == nil {
				release()
				return &ExistsError{File: file}
			}
		}
	}
	c.release = release
	return nil
}

// Close ends the lock of the folder.
func (c *Folder) Close() {
	if c.release != nil {
		c.release()
	}
}

// An ExistsError reports a folder with the checkpoint of an earlier fit, which a
// fit that does not resume it would overwrite.
type ExistsError struct{ File string }

func (e *ExistsError) Error() string {
	return e.File + " is the checkpoint of an earlier fit; resume that fit, use another folder, or delete the file to start again"
}

// Save implements solver.Checkpointer. A checkpoint that cannot be written, as on a full
// disk, is a warning: it must not end a fit that would succeed without it.
func (c *Folder) Save(s *solver.State) error {
	f, err := c.encode(s)
	if err != nil {
		return err
	}
	err = c.replace(f)
	if err != nil && !c.failed && c.Warn != nil {
		c.Warn(fmt.Sprintf("the checkpoint cannot be saved: %v; training goes on without it", err))
	}
	c.failed = err != nil
	return nil
}

// replace writes the file and keeps the one before.
func (c *Folder) replace(f *modelfile.File) error {
	err := os.Rename(c.file(), c.previous())
	moved := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := modelfile.Write(c.file(), f); err != nil {
		if moved {
			err = errors.Join(err, os.Rename(c.previous(), c.file()))
		}
		return err
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
	Tempered, WideCurves                      bool      `json:",omitempty"`
	Shape                                     [][]int   `json:",omitempty"`
	PruneAt                                   int       `json:",omitempty"`
	BestMeans                                 []float32 `json:",omitempty"`
}

// Content returns the bytes of a checkpoint.
func (c *Folder) Content(s *solver.State) ([]byte, error) {
	f, err := c.encode(s)
	if err != nil {
		return nil, err
	}
	return modelfile.Encode(f)
}

// encode returns the content of a checkpoint.
func (c *Folder) encode(s *solver.State) (*modelfile.File, error) {
	f := &modelfile.File{Meta: map[string]string{"kind": "checkpoint", "checkpoint_format": strconv.Itoa(format), "program": buildinfo.Version(),
		"data": c.Data, "split": c.Split, "side": c.Side, "cpu": c.CPU}}
	put := func(key string, v any) error {
		text, err := json.Marshal(v)
		f.Meta[key] = string(text)
		return err
	}
	err := errors.Join(put("spec", c.Spec), put("trials", s.Trials), put("done", s.Done), put("stop", s.Stop))
	for name, run := range map[string]*solver.Run{"run": &s.Run, "leader": &s.Leader} {
		err = errors.Join(err, put(name, runMeta{run.Sweep, run.Block, run.BestSweep, run.Restarts, len(run.Memory),
			run.Points, run.BestScore, run.Rate, run.Raised, run.Step,
			run.Attempt, run.StartSweeps, run.StartSweep, run.StartScore, run.Reference, run.Stop, run.Tempered, run.WideCurves, run.Shape, run.PruneAt, run.BestMeans}))
	}
	if err != nil {
		return nil, err
	}
	for _, named := range []struct {
		name string
		run  *solver.Run
	}{{"run", &s.Run}, {"leader", &s.Leader}} {
		for what, values := range arrays(named.run) {
			f.Tensors = append(f.Tensors, modelfile.NewTensor(fmt.Sprintf("%s/%d", named.name, what), values, len(values)))
		}
	}
	return f, nil
}

// arrays returns the arrays of a run in a fixed order.
func arrays(r *solver.Run) [][]float32 {
	return append([][]float32{r.Weights, r.Best}, r.Memory...)
}

// Load reads the newest sound checkpoint of the folder, nil if there is none yet. The
// note is about a newer one that is damaged.
func (c *Folder) Load() (s *solver.State, from, note string, err error) {
	s, err = c.loadFile(c.file())
	if s != nil || err != nil && !errors.Is(err, modelfile.ErrFormat) {
		return s, c.file(), "", err
	}
	before, errBefore := c.loadFile(c.previous())
	switch {
	case before != nil && err != nil:
		return before, c.previous(), fmt.Sprintf("%v; the checkpoint before it is used", err), nil
	case before != nil: // the process ended between renaming and writing
		return before, c.previous(), "", nil
	case err != nil:
		return nil, "", "", fmt.Errorf("%w; delete it to start from the beginning", err)
	case errBefore != nil:
		return nil, "", "", fmt.Errorf("%w; delete it to start from the beginning", errBefore)
	}
	return nil, "", "", nil
}

// loadFile reads one checkpoint, nil if there is none.
func (c *Folder) loadFile(file string) (*solver.State, error) {
	f, err := modelfile.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := c.matches(f, file); err != nil {
		return nil, err
	}
	return Decode(f, file)
}

// An Error reports a checkpoint that belongs to another fit.
type Error struct{ File, Problem string }

func (e *Error) Error() string {
	return fmt.Sprintf("%s belongs to another fit: %s; use another folder, or delete the file to start again", e.File, e.Problem)
}

// matches returns an *Error for a checkpoint of another fit.
func (c *Folder) matches(f *modelfile.File, file string) error {
	refuse := func(what string) error { return &Error{File: file, Problem: what} }
	if f.Meta["kind"] != "checkpoint" {
		return refuse("it is not a checkpoint")
	}
	if problem := otherFormat(f); problem != "" {
		return refuse(problem)
	}
	same, err := c.sameSpec(f.Meta["spec"])
	if err != nil {
		return notCheckpoint(file, err)
	}
	switch {
	case !same:
		return refuse("the specification differs")
	case f.Meta["program"] != buildinfo.Version():
		return refuse(fmt.Sprintf("it was made by version %q of kft, and this is version %q, which may compute other bits", f.Meta["program"], buildinfo.Version()))
	case f.Meta["data"] != c.Data:
		return refuse("the data differs")
	case f.Meta["split"] != c.Split:
		return refuse("the split differs")
	case f.Meta["side"] != c.Side:
		return refuse("the side information differs")
	case f.Meta["cpu"] != c.CPU:
		return refuse(fmt.Sprintf("it was made with %s instructions, this run uses %s (the environment variable KFT_CPU selects them)", f.Meta["cpu"], c.CPU))
	}
	return nil
}

// sameSpec reports whether text is the specification of c, possibly in the spelling of
// an earlier version.
func (c *Folder) sameSpec(text string) (bool, error) {
	var saved spec.Spec
	if err := json.Unmarshal([]byte(text), &saved); err != nil {
		return false, err
	}
	then, err := json.Marshal(saved)
	if err != nil {
		return false, err
	}
	now, err := json.Marshal(c.Spec)
	return string(then) == string(now), err
}
