package fitdata

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/timeline"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// timeline returns the periods of a mode of time.
func (d *Data) timeline(mode int) (*timeline.Timeline, error) {
	return timeline.New(d.table.Modes[mode], d.table.Dicts[mode].IDs())
}

// Regular reports whether the ids of a mode of time lie on a grid, so that later periods
// exist.
func (d *Data) Regular(mode int) bool {
	line, err := d.timeline(mode)
	return err == nil && line.Regular()
}

// Numbered reports whether the periods of a mode of time are running numbers, which do not
// say what a season is.
func (d *Data) Numbered(mode int) bool {
	line, err := d.timeline(mode)
	return err == nil && line.Unit() == ""
}

// SeasonPeriods returns the seasons that a mode of time may have, in steps: the cycles of its
// calendar or, for running numbers, usual ones. The training rows span each at least twice.
func (d *Data) SeasonPeriods(mode int) []float64 {
	line, err := d.timeline(mode)
	if err != nil || !line.Regular() {
		return nil
	}
	usual := []float64{4, 7, 12, 24, 52}
	if line.Unit() != "" {
		usual = nil
		for _, c := range line.Cycles() {
			usual = append(usual, c.Periods)
		}
	}
	steps, last := line.Steps(), int64(0)
	for i, p := range d.split.Parts {
		if p == dataset.Train {
			last = max(last, steps[d.table.Codes[mode][i]])
		}
	}
	return slices.DeleteFunc(usual, func(p float64) bool { return 2*p > float64(last+1) })
}

// Year returns the number of periods of a year; 0 if the calendar has none.
func (d *Data) Year(mode int) float64 {
	if line, err := d.timeline(mode); err == nil && line.Regular() {
		for _, c := range line.Cycles() {
			if c.Name == "year" {
				return c.Periods
			}
		}
	}
	return 0
}

// Seasons returns how many of the longest seasons of the calendar the periods of the training
// rows make; 0 if it has none.
func (d *Data) Seasons(mode int) float64 {
	line, err := d.timeline(mode)
	if err != nil || !line.Regular() {
		return 0
	}
	longest := 0.0
	for _, c := range line.Cycles() {
		longest = max(longest, c.Periods)
	}
	if longest == 0 {
		return 0
	}
	return float64(d.Combinations(mode)) / longest
}

// CombinationsWith returns the number of combinations of ids of some modes and a part of
// the time that occur in the training rows.
func (d *Data) CombinationsWith(modes []int, time int, part string) int {
	m, ids := d.table.Modes[time], d.table.Dicts[time].IDs()
	joined, err := sideinfo.JoinIDColumns(sideinfo.Spec{Mode: m.Name, Columns: []sideinfo.ColumnSpec{{Name: part, Type: sideinfo.Group}}}, m, ids)
	if err != nil {
		return d.Count(dataset.Train)
	}
	level := map[string]uint64{}
	of := make([]uint64, len(ids))
	for code, text := range joined.Rows.Columns[0] {
		if _, ok := level[text]; !ok {
			level[text] = uint64(len(level))
		}
		of[code] = level[text]
	}
	keys := make([]uint64, 0, d.Count(dataset.Train))
	for i, p := range d.split.Parts {
		if p != dataset.Train {
			continue
		}
		k := of[d.table.Codes[time][i]]
		for _, m := range modes { // combinations beyond 2^64 hardly repeat; a collision is harmless
			k = k*uint64(d.table.Dicts[m].Len()) + uint64(d.table.Codes[m][i])
		}
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return len(slices.Compact(keys))
}

// recurs reports whether a part of the time comes back: its level changes more often along
// time than it has levels. The year does not.
func (d *Data) recurs(mode int, level []string) bool {
	order, err := d.table.Modes[mode].Chronology(d.table.Dicts[mode].IDs())
	if err != nil {
		return false
	}
	levels, runs, last := map[string]bool{}, 0, ""
	for i, code := range order.Order {
		text := level[code]
		if i == 0 || text != last {
			runs++
		}
		levels[text], last = true, text
	}
	return runs > len(levels)
}

// SeriesShare keeps the rows of about the given share of the ids of one mode, in all
// parts: a sample of rows would leave gaps in every series, and one of series would leave
// too little of the interaction of the modes. The mode is the one with the fewest ids of
// which enough are left. Each id has its own random number, so a smaller share is a subset of
// a larger one.
func (d *Data) SeriesShare(parts []dataset.Part, time int, share float64, seed uint64) []dataset.Part {
	const leastIDs = 20
	mode, size := -1, 0
	for m, dict := range d.table.Dicts {
		n := dict.Len()
		enough := share*float64(n) >= leastIDs
		had := share*float64(size) >= leastIDs
		if m != time && !d.table.Modes[m].Covariate() && (mode < 0 || enough && (!had || n < size) || !had && n > size) {
			mode, size = m, n
		}
	}
	out := slices.Clone(parts)
	if mode < 0 {
		return out
	}
	draw := randstream.New(seed, "share of ids")
	taken := make([]bool, size)
	for i := range taken {
		taken[i] = draw.Float64() < share
	}
	for i, code := range d.table.Codes[mode] {
		if !taken[code] {
			out[i] = dataset.Unused
		}
	}
	return out
}
