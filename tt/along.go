package tt

import (
	"math/rand/v2"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/series"
	"github.com/kernel-fried-tensor/kft/series/dynamics"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// A core along time has a prior along its mode of time; see package dynamics. It is an
// outer plain core of one mode with an entity for every id of the mode: the slices of ids
// without training rows follow from the others. Its axis is that of [StepAxis].

// StepAxis returns the axis of a core along time. Ids without training rows are known by
// their steps, like the groups of other ids; see [OnlyGroups].
func StepAxis(mode, size int) entity.Axis {
	return entity.Axis{Mode: mode, Size: size, Group: codes(size)}
}

func codes(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// SetAlong makes the core one along time, given the step of each code of its mode.
func (c *Core) SetAlong(prior series.Prior, steps []int32) {
	c.Along = dynamics.New(prior, c.StepsOf(steps), c.Slices.Slice())
}

// StepsOf returns the steps of the entities of a core along time.
func (c *Core) StepsOf(steps []int32) []int32 {
	var of []int32
	for _, code := range c.Index.Combinations() {
		of = append(of, steps[code])
	}
	return of
}

// ExtendAlong extends a core along time to size codes, some of which are new, with their
// steps. Entities of known steps keep their slices.
func (c *Core) ExtendAlong(size int, fresh, steps []int32) error {
	combos := slices.Clone(c.Index.Combinations())
	var added []int32
	for i, code := range fresh {
		if c.Index.Lacks(code) {
			combos, added = append(combos, code), append(added, steps[i])
		}
	}
	x, err := entity.RestoreAxisIndex([]entity.Axis{StepAxis(c.Index.Axes()[0].Mode, size)}, combos)
	if err != nil {
		return err
	}
	n, entries := c.Slices.N-1, c.Slices.Slice()
	all := c.slicesLike(x.Entities())
	copy(all.Mean, c.Slices.Mean[:n*entries])
	copy(all.Var, c.Slices.Var[:min(n*entries, len(all.Var))])
	copySlice(all, all.N-1, c.Slices, n)
	var variance []float32
	if all.Var != nil {
		variance = all.Var[n*entries:]
	}
	if len(added) > 0 {
		c.Along.At(added, all.Mean[n*entries:], variance)
	}
	c.Along, c.Index, c.Slices = c.Along.Extended(added), x, all
	c.Free, c.Rows = all.Mean, nil
	if c.FreePosterior != nil {
		posterior := *c.FreePosterior
		c.FreePosterior = &posterior
		posterior.Var = all.Var
	}
	return nil
}

// paths returns the streams of random numbers of the entries of a drawn core along time.
func (c *Core) paths(entry int) *rand.Rand { return randstream.New(c.seed, "path", uint64(entry)) }

// drawPaths returns a draw of all slices.
func (c *Core) drawPaths(factor float64) []float32 {
	x := slices.Clone(c.Free)
	c.Along.Draw(c.paths, factor, c.Along.Of, x)
	return x
}

// TimeModes returns the modes of time: those of series terms and of cores along time.
func (f *Field) TimeModes() []int {
	var modes []int
	for _, s := range f.Series {
		modes = append(modes, s.Time)
	}
	for _, t := range f.Terms {
		for _, c := range t.Cores {
			if c.Along != nil {
				modes = append(modes, c.Index.Axes()[0].Mode)
			}
		}
	}
	slices.Sort(modes)
	return slices.Compact(modes)
}
