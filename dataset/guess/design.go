package guess

import (
	"math/rand/v2"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/guess/relation"
	"github.com/kernel-fried-tensor/kft/dataset/internal/timepart"
)

// designed reports whether the table was made such that each row has its own cell, as a panel is:
// cells repeat much less often than those that independent draws of the ids would give. Where draws
// would hardly repeat cells either, unique cells say nothing about the design. Modes that are not
// needed to tell rows apart are left out first, because with many columns nothing repeats.
func (g *guesser) designed(modes []sampleMode) bool {
	key := slices.Clone(modes)
	most := g.repeated(modes) + g.Rows/200
	for i := len(key) - 1; i >= 0 && len(key) > 1; i-- {
		if fewer := slices.Delete(slices.Clone(key), i, i+1); g.repeated(fewer) <= most {
			key = fewer
		}
	}
	const atLeast, times = 5, 5 // repeated cells of draws, and how many times those of the table
	repeated := g.repeated(key)
	if drawn := g.drawnAlong(key); drawn >= atLeast && drawn >= times*float64(repeated) {
		return true
	}
	for i := range key[1:] {
		key[i+1].codes = slices.Clone(key[i+1].codes)
		codes := key[i+1].codes
		rand.New(rand.NewPCG(1, uint64(i))).Shuffle(len(codes), func(a, b int) { codes[a], codes[b] = codes[b], codes[a] })
	}
	drawn := g.repeated(key)
	return drawn >= atLeast && drawn >= times*repeated
}

// drawnAlong returns the number of repeated cells to expect if the rows of each series were at
// random periods between its first and its last, see [relation.DrawnRepeats], or 0 if the modes have no time.
func (g *guesser) drawnAlong(modes []sampleMode) float64 {
	at := slices.IndexFunc(modes, isTime)
	if at < 0 || len(modes) < 2 {
		return 0
	}
	periods := g.periodOrder(modes[at])
	if periods == nil {
		return 0
	}
	series, n := make([]int32, g.Rows), 1
	for i, m := range modes {
		if i != at {
			series, n = relation.Crossed(series, m.codes)
		}
	}
	return relation.DrawnRepeats(series, n, periods)
}

// periodOrder returns the position of each row's period among those of a time, or nil if it is unknown.
func (g *guesser) periodOrder(m sampleMode) []int32 {
	keys := make([][]float64, m.distinct)
	for _, name := range m.Columns {
		c := g.columns[slices.Index(g.sample.Names, name)]
		seen := make([]bool, m.distinct)
		for row, code := range m.codes {
			if seen[code] {
				continue
			}
			seen[code] = true
			v, ok := dataset.Number(c.values[c.codes[row]])
			if c.moments != nil {
				v, ok = float64(c.moments[c.codes[row]].Unix()), true
			}
			if numbers, _, _ := timepart.Numbers(c.values[c.codes[row]]); c.textPart != timepart.None && len(numbers) == 1 { // Jan
				v, ok = numbers[0], true
			}
			if !ok {
				return nil
			}
			keys[code] = append(keys[code], v)
		}
	}
	order := make([]int32, m.distinct)
	for k := range order {
		order[k] = int32(k)
	}
	slices.SortFunc(order, func(a, b int32) int { return slices.Compare(keys[a], keys[b]) })
	position := make([]int32, m.distinct)
	for i, k := range order {
		position[k] = int32(i)
	}
	periods := make([]int32, g.Rows)
	for row, code := range m.codes {
		periods[row] = position[code]
	}
	return periods
}
