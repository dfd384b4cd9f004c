package fitdata

import (
	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/dataset/timeline"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/panel"
	"github.com/kernel-fried-tensor/kft/spec"
)

// divide splits the table, at the ends of its series if these are their own.
func (d *Data) divide(how split.Spec, s spec.Spec) (err error) {
	if how.OfTime() || s.Data.Ends == "series" {
		time := timeline.ModeAlong(d.table.Modes, d.IDs)
		if how.OfTime() {
			if time, err = how.TimeMode(&d.table); err != nil {
				time = -1 // the split says what is wrong
			}
		}
		if err := d.FindEnds(s.Data, time); err != nil {
			return err
		}
	}
	if how.OfTime() && d.ends != nil {
		if d.split, err = how.ApplyEnds(d.ends, s.Seed); err == nil || d.endsNote == "" {
			return err
		}
		d.ends, d.endsNote = nil, "" // all series are too short to be split at ends that nobody asked for
	}
	d.split, err = how.Apply(&d.table, s.Seed)
	return err
}

// FindEnds finds whether each series of the table has its own end, at which it is split and
// forecast: if the specification says so or, if it leaves that open, by [split.Ends.Differ].
func (d *Data) FindEnds(s spec.Data, time int) error {
	if !s.OwnEnds() {
		return nil
	}
	asked := s.Ends == "series"
	if time < 0 {
		if asked {
			return fielderr.Errorf("data.ends", "no mode is a time, so series have no ends; add one, such as time=year+month, or set data.ends to table")
		}
		return nil
	}
	found, err := split.FindEnds(&d.table, time, panel.KeyModes(d.table.Modes, time))
	switch {
	case asked && err != nil:
		return fielderr.Errorf("data.ends", "%w", err)
	case asked && found == nil:
		return fielderr.Errorf("data.ends", "the modes have too many combinations of ids to be numbered; set data.ends to table")
	case asked:
		d.ends = found
	case err == nil && found != nil:
		if note := found.Differ(); note != "" {
			d.ends, d.endsNote = found, note+"; set data.ends to table if they have stopped"
		}
	}
	return nil
}

// step returns the step of a row of the table, where each series has its own end counted so that
// all end together. steps are those of the ids of a mode of time.
func (d *Data) step(steps []int64, mode, row int) int64 {
	if d.ends != nil && d.ends.Time == mode {
		return d.ends.Step(row)
	}
	return steps[d.table.Codes[mode][row]]
}

// OwnEnds reports whether each series has its own end, and says why if the specification leaves that open.
func (d *Data) OwnEnds() (own bool, why string) { return d.ends != nil, d.endsNote }
