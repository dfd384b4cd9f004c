package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
)

// otherFormat returns why this program cannot read a checkpoint of another format
// version, "" if it can.
func otherFormat(f *modelfile.File) string {
	text, has := f.Meta["checkpoint_format"]
	if !has {
		return "it was made by kft 0.1, whose checkpoints this version does not read"
	}
	version, err := strconv.Atoi(text)
	switch {
	case err != nil || version < 1:
		return fmt.Sprintf("its format version is %q", text)
	case version != format:
		return fmt.Sprintf("its format version is %d, and this program reads version %d", version, format)
	}
	return ""
}

// notCheckpoint reports a file whose checksum is right and whose content is not that of a
// checkpoint.
func notCheckpoint(file string, err error) error {
	return &modelfile.FormatError{File: file, Problem: fmt.Sprintf("not a valid checkpoint: %v", err)}
}

// Verify returns an error unless a file is a checkpoint that a fit can resume
// from. It cannot tell whether its numbers are those of a fit.
func Verify(f *modelfile.File, file string) error {
	if problem := otherFormat(f); problem != "" {
		return &modelfile.FormatError{File: file, Problem: "not a checkpoint of this version: " + problem}
	}
	var s spec.Spec
	if err := json.Unmarshal([]byte(f.Meta["spec"]), &s); err != nil {
		return notCheckpoint(file, fmt.Errorf("its specification: %w", err))
	}
	s.Fill()
	if err := s.Validate(); err != nil {
		return notCheckpoint(file, fmt.Errorf("its specification: %w", err))
	}
	_, err := Decode(f, file)
	return err
}

// Decode returns the state of a checkpoint. It checks what does not depend on
// the fit; package solver checks the rest.
func Decode(f *modelfile.File, file string) (*solver.State, error) {
	s := &solver.State{}
	get := func(key string, v any) error {
		if err := json.Unmarshal([]byte(f.Meta[key]), v); err != nil {
			return fmt.Errorf("cannot read its %s: %w", key, err)
		}
		return nil
	}
	err := errors.Join(f.CheckFinite(), get("trials", &s.Trials), get("done", &s.Done), get("stop", &s.Stop), checkTrials(s.Trials))
	for _, part := range []struct {
		name string
		run  *solver.Run
	}{{"run", &s.Run}, {"leader", &s.Leader}} {
		if err == nil {
			err = decodeRun(f, part.name, part.run)
		}
	}
	if err != nil {
		return nil, notCheckpoint(file, err)
	}
	return s, nil
}

// maxTrials is above the number of penalties that a search tries.
const maxTrials = 1000

func checkTrials(trials []solver.Trial) error {
	if len(trials) > maxTrials {
		return fmt.Errorf("it has %d trials", len(trials))
	}
	for i, t := range trials {
		if t.Ridge.Kind != solver.Frequency && t.Ridge.Kind != solver.Uniform || !(t.Ridge.Lambda > 0) {
			return fmt.Errorf("trial %d has the penalty %q of %g", i, t.Ridge.Kind, t.Ridge.Lambda)
		}
	}
	return nil
}

// decodeRun reads what encode wrote of one run.
func decodeRun(f *modelfile.File, name string, r *solver.Run) error {
	var m runMeta
	if err := json.Unmarshal([]byte(f.Meta[name]), &m); err != nil {
		return fmt.Errorf("cannot read its %s: %w", name, err)
	}
	switch {
	case m.Sweep < 0 || m.Block < 0 || m.BestSweep < -1 || m.Restarts < 0 || m.Raised < 0 || m.Step < 0 || m.Attempt < 0 || m.StartSweeps < 0 || m.StartSweep < 0 || m.PruneAt < 0:
		return fmt.Errorf("a number of its %s is negative", name)
	case m.Sweep > math.MaxInt32 || m.BestSweep > m.Sweep || m.StartSweep > m.StartSweeps || !(math.Abs(m.Rate) <= math.MaxFloat32):
		return fmt.Errorf("its %s is at sweep %d (best %d), or %d of %d at the start, with rate %g", name, m.Sweep, m.BestSweep, m.StartSweep, m.StartSweeps, m.Rate)
	case m.Memory < 0 || m.Memory > len(f.Tensors):
		return fmt.Errorf("its %s has %d arrays in a file of %d", name, m.Memory, len(f.Tensors))
	case !slices.IsSortedFunc(m.Points, func(a, b solver.Point) int { return a.Sweep - b.Sweep }):
		return fmt.Errorf("the points of its %s are not sorted", name)
	}
	*r = solver.Run{Sweep: m.Sweep, Block: m.Block, BestSweep: m.BestSweep, Restarts: m.Restarts, Points: m.Points,
		BestScore: m.BestScore, Rate: m.Rate, Raised: m.Raised, Step: m.Step,
		Attempt: m.Attempt, StartSweeps: m.StartSweeps, StartSweep: m.StartSweep, StartScore: m.StartScore, Reference: m.Reference, Stop: m.Stop, Tempered: m.Tempered, WideCurves: m.WideCurves, Shape: m.Shape, PruneAt: m.PruneAt, BestMeans: m.BestMeans, Memory: make([][]float32, m.Memory)}
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
