// Package split assigns the observations of a table to a training, validation and test
// set.
package split

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/timeline"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// Split assigns every observation of a table to a part.
type Split struct {
	Parts []dataset.Part // one per observation
	Spec  string
	Seed  uint64

	// For a split by time: the periods of each part, as in "2016-10 to 2016-12", and the
	// assumption that their order rests on, or "".
	Periods map[dataset.Part]string
	Note    string
}

// Count returns the number of observations in a part.
func (s *Split) Count(p dataset.Part) int {
	return bytes.Count(peers.Bytes(s.Parts), []byte{byte(p)})
}

// Apply splits a table. The same table, specification and seed give the same split.
// The sizes are exact. An empty training set is an error, and so is a split that puts
// all rows into it.
func (s Spec) Apply(t *dataset.Table, seed uint64) (*Split, error) {
	if s.Random() {
		return s.ApplyRandom(t.Len(), seed)
	}
	split := &Split{Spec: s.String(), Seed: seed}
	var err error
	switch s.kind {
	case "time":
		err = s.byTime(t, split)
	case "entity":
		split.Parts, err = s.byEntity(t, seed)
	case "column":
		if t.Part == nil {
			panic("dataset: a split by column needs a table read with Schema.Part")
		}
		split.Parts = slices.Clone(t.Part)
	case "file":
		split.Parts, err = s.readParts(t)
	default:
		panic("split: Apply of an empty Spec")
	}
	if err != nil {
		return nil, err
	}
	return s.checked(split)
}

// Random reports whether the split is random: it depends on the number of observations alone.
func (s Spec) Random() bool { return s.kind == "random" }

// ApplyRandom is Apply of a random split to a table of n observations.
func (s Spec) ApplyRandom(n int, seed uint64) (*Split, error) {
	return s.checked(&Split{Spec: s.String(), Seed: seed, Parts: s.random(n, seed)})
}

// checked returns an error if a split has no training rows or nothing else.
func (s Spec) checked(split *Split) (*Split, error) {
	counts := fmt.Sprintf("train %d, valid %d, test %d, unused %d", split.Count(dataset.Train), split.Count(dataset.Valid), split.Count(dataset.Test), split.Count(dataset.Unused))
	if split.Count(dataset.Train) == 0 {
		return nil, fielderr.Errorf("split", "split %s: the training set is empty (%s); choose another split", s, counts)
	}
	if split.Count(dataset.Train) == len(split.Parts) && !(s.kind == "random" && s.percent[0] == 100) {
		return nil, fielderr.Errorf("split", "split %s: all rows are in the training set (%s); choose another split", s, counts)
	}
	return split, nil
}

func (s Spec) random(n int, seed uint64) []dataset.Part {
	sizes := largestRemainder(n, s.percent)
	parts, from := paged.Make[dataset.Part](nil, n), 0 // accessed at random
	for p, size := range sizes {
		for i := range parts[from:][:size] {
			parts[from+i] = dataset.Part(p)
		}
		from += size
	}
	randstream.Shuffle(rand.New(rand.NewPCG(seed, splitStream)), parts, 0)
	return parts
}

// splitStream separates the random numbers of splits from those that other purposes
// draw from the same seed.
const splitStream = 0x73706c6974 // "split"

// largestRemainder divides n by percentages. Each share gets the integer part of its
// quota; the rest goes to the largest remainders, and to the first of equal ones.
func largestRemainder(n int, percent [3]float64) [3]int {
	var sizes [3]int
	var remainder [3]float64
	left := n
	for i, p := range percent {
		quota := float64(n) * p / 100
		sizes[i] = int(quota + 1e-9)
		remainder[i] = quota - float64(sizes[i])
		left -= sizes[i]
	}
	order := []int{0, 1, 2}
	slices.SortStableFunc(order, func(a, b int) int {
		switch d := remainder[a] - remainder[b]; {
		case d > 1e-9:
			return -1
		case d < -1e-9:
			return 1
		}
		return 0
	})
	for _, i := range order[:left] {
		sizes[i]++
	}
	return sizes
}

// TimeMode returns the mode of time: the one that is named, or one that is recognised, or the
// one called time.
func (s Spec) TimeMode(t *dataset.Table) (int, error) {
	if s.mode != "" {
		return t.ModeIndex(s.mode)
	}
	if m := timeline.ModeAlong(t.Modes, func(mode int) []string { return t.Dicts[mode].IDs() }); m >= 0 {
		return m, nil
	}
	if m, err := t.ModeIndex("time"); err == nil {
		return m, nil
	}
	var names []string
	for i, m := range t.Modes {
		ids := t.Dicts[i].IDs()
		_, _, mixed := m.MixedTimes(ids)
		if (m.Func != "" || mixed || m.DateRemedy(ids) != "") && !m.Covariate() {
			return i, nil // its order in time is the error
		}
		if !m.Covariate() {
			names = append(names, m.Name)
		}
	}
	if len(names) == 0 {
		return 0, errors.New("the table has no time, because all modes are covariates; name a column of times as a mode")
	}
	return 0, fmt.Errorf("none of the modes %s is a time; add one, or name the one whose ids follow each other, as in time:last=%d,mode=%s", strings.Join(names, ", "), s.last, names[len(names)-1])
}

// byTime sets the parts and their periods.
func (s Spec) byTime(t *dataset.Table, split *Split) error {
	m, err := s.TimeMode(t)
	if err != nil {
		return fielderr.Errorf("split", "split %s: %w", s, err)
	}
	dict := t.Dicts[m]
	if dict.Len() <= 2*s.last {
		remedy := "a split by time needs 3 or more, for training, validation and test set"
		if most := (dict.Len() - 1) / 2; most > 0 {
			remedy = fmt.Sprintf("choose last=%d or less", most)
		}
		return fielderr.Errorf("split", "split %s: mode %s has %s, which leaves none for training; %s",
			s, t.Modes[m].Name, plural.Count(dict.Len(), "period"), remedy)
	}
	found, err := t.Modes[m].Chronology(dict.IDs())
	if err != nil {
		return fielderr.Errorf("split", "split %s: %w", s, err)
	}
	if found.Cycle != "" {
		return fielderr.Errorf("split", "split %s: mode %s has the periods %s to %s, and nothing can follow the last %s of a cycle: the table does not say which one it belongs to; add the missing part to data.modes, as in time=year+%s, or choose another split",
			s, t.Modes[m].Name, dict.ID(found.Order[0]), dict.ID(found.Order[len(found.Order)-1]), found.Cycle, found.Cycle)
	}
	if err := onePeriodEach(t.Modes[m], dict.IDs()); err != nil {
		return fielderr.Errorf("data.modes", "%w", err)
	}
	split.Note = found.Note
	split.Periods = map[dataset.Part]string{}
	partOf := make([]dataset.Part, dict.Len())
	validFrom, testFrom := dict.Len()-2*s.last, dict.Len()-s.last
	for part, codes := range map[dataset.Part][]int32{dataset.Train: found.Order[:validFrom], dataset.Valid: found.Order[validFrom:testFrom], dataset.Test: found.Order[testFrom:]} {
		for _, code := range codes {
			partOf[code] = part
		}
		split.Periods[part] = dict.ID(codes[0])
		if last := dict.ID(codes[len(codes)-1]); len(codes) > 1 {
			split.Periods[part] += " to " + last
		}
	}
	split.Parts = partsOf(t.Codes[m], partOf)
	return nil
}

// onePeriodEach returns an error if two ids are the same period, which a forecast could not tell
// apart.
func onePeriodEach(mode dataset.Mode, ids []string) error {
	line, err := timeline.New(mode, ids)
	if err != nil {
		return err
	}
	return line.OnePeriodEach()
}

func (s Spec) byEntity(t *dataset.Table, seed uint64) ([]dataset.Part, error) {
	m, err := t.ModeIndex(s.mode)
	if err != nil {
		return nil, fielderr.Errorf("split", "split %s: %w", s, err)
	}
	n := t.Dicts[m].Len()
	heldOut := max(1, int(math.Round(float64(n)*s.percent[1]/100)))
	if 2*heldOut >= n {
		return nil, fielderr.Errorf("split", "split %s: mode %s has %s, too few to hold any out; choose another split", s, s.mode, plural.Count(n, "id"))
	}
	partOf := make([]dataset.Part, n)
	for i := range heldOut {
		partOf[i], partOf[heldOut+i] = dataset.Test, dataset.Valid
	}
	r := rand.New(rand.NewPCG(seed, splitStream))
	r.Shuffle(n, func(i, j int) { partOf[i], partOf[j] = partOf[j], partOf[i] })
	return partsOf(t.Codes[m], partOf), nil
}

func partsOf(codes []int32, partOf []dataset.Part) []dataset.Part {
	parts := make([]dataset.Part, len(codes))
	for k, code := range codes {
		parts[k] = partOf[code]
	}
	return parts
}
