package fitdata

import (
	"math/bits"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/timeline"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// Merged returns the number of rows that were merged into an earlier row of the same
// cell.
func (d *Data) Merged() int { return d.table.Counts.Merged }

// Targets returns the targets of the training rows, in the user's units.
func (d *Data) Targets() []float32 {
	y := make([]float32, 0, d.Count(dataset.Train))
	for i, p := range d.split.Parts {
		if p == dataset.Train {
			y = append(y, d.table.Y[i])
		}
	}
	return y
}

// ZeroOne reports whether every target is 0 or 1.
func (d *Data) ZeroOne() bool {
	return !slices.ContainsFunc(d.table.Y, func(y float32) bool { return y != 0 && y != 1 })
}

// FewValues reports whether the target has so few different values that they may be
// levels of an ordinal target.
func (d *Data) FewValues() bool { return d.Levels() != nil }

// LaterMode returns the mode along which all other rows come after the training rows, or after
// those of their series where each has its own end, -1 if there is none. Of two such modes it is
// the finer one.
func (d *Data) LaterMode() int { return d.laterMode }

// findLater finds the mode that LaterMode returns.
func (d *Data) findLater() {
	if d.laterMode = -1; d.ends != nil && d.ends.Later(d.split.Parts) {
		d.laterMode = d.ends.Time
		return
	}
	ids := 0
	for m := range d.table.Modes {
		if n := d.table.Dicts[m].Len(); n > ids && !d.table.Modes[m].Covariate() && d.isLater(m) {
			d.laterMode, ids = m, n
		}
	}
}

// isLater reports whether all rows outside of the training set come after it along a mode.
func (d *Data) isLater(mode int) bool {
	codes, parts := d.table.Codes[mode], d.split.Parts
	if d.share != nil {
		from, to := d.share.own()
		codes, parts = d.share.Codes[mode], parts[from:to]
	}
	trained, held := make([]bool, d.table.Dicts[mode].Len()), make([]bool, d.table.Dicts[mode].Len())
	both := false
	for i, p := range parts {
		code := codes[i]
		switch p {
		case dataset.Train:
			trained[code] = true
		case dataset.Valid, dataset.Test:
			held[code] = true
		}
		if both = held[code] && trained[code]; both {
			break
		}
	}
	if d.share != nil {
		if both = slices.Contains(peers.Each(d.share.ranks, both), true); !both {
			both = d.share.unite(trained, held)
		}
	}
	if both {
		return false
	}
	any := slices.Contains(held, true)
	order, err := d.table.Modes[mode].Chronology(d.table.Dicts[mode].IDs())
	if err != nil || !any {
		return false
	}
	after := false
	for _, code := range order.Order {
		if after && trained[code] {
			return false
		}
		after = after || held[code]
	}
	return true
}

// TimeMode returns the position of the mode along which the rows are split, or the one that
// [timeline.ModeOf] finds, -1 if there is none.
func (d *Data) TimeMode() int {
	if m := d.LaterMode(); m >= 0 {
		return m
	}
	return timeline.ModeOf(d.table.Modes, d.IDs)
}

// IsCalendar reports whether a mode is a time, or a part of a date such as its month.
func (d *Data) IsCalendar(mode int) bool {
	m := d.table.Modes[mode]
	return m.Func != "" && !m.Covariate() && !m.Target() || m.IsTime(d.table.Dicts[mode].IDs())
}

// IsColumn reports whether the ids of a mode are the values of columns, not of a function such
// as hour(at).
func (d *Data) IsColumn(mode int) bool { return d.table.Modes[mode].Func == "" }

// maxBitmap is the number of possible combinations up to which they are counted in a
// bitmap of 32 MiB.
const maxBitmap = 1 << 28

// Combinations returns the number of combinations of ids of some modes that occur in the
// training rows.
func (d *Data) Combinations(modes ...int) int {
	possible := uint64(1)
	for _, m := range modes {
		high, low := bits.Mul64(possible, uint64(d.table.Dicts[m].Len()))
		if high > 0 {
			return d.Count(dataset.Train) // too many to number; they hardly repeat
		}
		possible = low
	}
	key := func(i int) uint64 {
		k := uint64(0)
		for _, m := range modes {
			k = k*uint64(d.table.Dicts[m].Len()) + uint64(d.table.Codes[m][i])
		}
		return k
	}
	if possible <= maxBitmap {
		seen, n := make([]uint64, (possible+63)/64), 0
		for i, p := range d.split.Parts {
			if p == dataset.Train {
				k := key(i)
				seen[k/64] |= 1 << (k % 64)
			}
		}
		for _, word := range seen {
			n += bits.OnesCount64(word)
		}
		return n
	}
	keys := make([]uint64, 0, d.Count(dataset.Train))
	for i, p := range d.split.Parts {
		if p == dataset.Train {
			keys = append(keys, key(i))
		}
	}
	slices.Sort(keys)
	return len(slices.Compact(keys))
}
