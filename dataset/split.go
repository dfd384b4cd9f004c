package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// Part is the use an observation is put to.
type Part uint8

const (
	Train Part = iota
	Valid
	Test
	Unused
)

var partNames = [...]string{"train", "valid", "test", "unused"}

func (p Part) String() string { return partNames[p] }

const partRemedy = "write train, valid, test or unused"

func parsePart(b []byte) (Part, bool) {
	switch string(b) {
	case "train":
		return Train, true
	case "valid", "validation":
		return Valid, true
	case "test":
		return Test, true
	case "unused":
		return Unused, true
	}
	return 0, false
}

// Split puts every observation of a table in a part.
type Split struct {
	Parts []Part // one an observation
	Spec  string
	Seed  uint64

	// Of a split by time: the periods of each part in words, "2016-10 to 2016-12",
	// and what their order takes for granted, or "".
	Periods map[Part]string
	Note    string
}

// Count returns the number of observations in a part.
func (s *Split) Count(p Part) int {
	n := 0
	for _, q := range s.Parts {
		if q == p {
			n++
		}
	}
	return n
}

// SplitSpec says how to split a table. See ParseSplit.
type SplitSpec struct {
	kind    string
	percent [3]float64 // random: train, valid, test; entity: the share of each of valid and test in [1]
	last    int        // time: periods in each of valid and test
	mode    string     // time, entity: name of the mode; time: "" takes the one called time, else the last
	source  string     // column, file: its name
}

var splitForms = []string{"random:60/20/20", "time:last=3", "entity:store=10%", "column:part", "file:split.csv"}

// ParseSplit reads one of
//
//	random:60/20/20   percent of the rows in train, valid and test; two numbers
//	                  are train and valid, with nothing kept for test
//	time:last=3       the last 3 periods are test, the 3 before them valid; the
//	                  periods are the ids, in the order of time, of the mode called
//	                  time, else of the last mode (time:last=3,mode=period)
//	entity:store=10%  all rows of 10 % of the stores are test, of another 10 % valid
//	column:part       what the column says: train, valid, test or unused
//	file:F            the same from a file with header part and a line a row
func ParseSplit(s string) (SplitSpec, error) {
	kind, rest, ok := strings.Cut(s, ":")
	if !ok || rest == "" {
		return SplitSpec{}, fmt.Errorf("split %q: write it as one of %s", s, strings.Join(splitForms, ", "))
	}
	spec := SplitSpec{kind: kind}
	var err error
	switch kind {
	case "random":
		err = spec.parsePercents(rest)
	case "time":
		err = spec.parseTime(rest)
	case "entity":
		err = spec.parseEntity(rest)
	case "column", "file":
		spec.source = rest
	default:
		err = fmt.Errorf("unknown kind %q%s; write it as one of %s", kind,
			suggest.Hint(kind, []string{"random", "time", "entity", "column", "file"}), strings.Join(splitForms, ", "))
	}
	if err != nil {
		return SplitSpec{}, fmt.Errorf("split %q: %w", s, err)
	}
	return spec, nil
}

func (s *SplitSpec) parsePercents(text string) error {
	parts := strings.Split(text, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return fmt.Errorf("write two or three percentages, as in random:60/20/20")
	}
	sum := 0.0
	for i, part := range parts {
		v, err := strconv.ParseFloat(strings.TrimSuffix(part, "%"), 64)
		if err != nil || !(v >= 0 && v <= 100) {
			return fmt.Errorf("%q is not a percentage; write two or three, as in random:60/20/20", part)
		}
		s.percent[i] = v
		sum += v
	}
	if math.Abs(sum-100) > 1e-9 {
		return fmt.Errorf("the percentages add up to %g; they must to 100", sum)
	}
	if s.percent[0] == 0 {
		return fmt.Errorf("nothing is left to train on; the first percentage must be above 0")
	}
	return nil
}

func (s *SplitSpec) parseTime(text string) error {
	for option := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(option, "=")
		switch key {
		case "last":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return fmt.Errorf("last=%s is not a number of periods; write time:last=3", value)
			}
			s.last = n
		case "mode":
			s.mode = value
		default:
			return fmt.Errorf("unknown option %q; write time:last=3 or time:last=3,mode=month", key)
		}
	}
	if s.last == 0 {
		return fmt.Errorf("the number of periods is missing; write time:last=3")
	}
	return nil
}

func (s *SplitSpec) parseEntity(text string) error {
	mode, share, ok := strings.Cut(text, "=")
	v, err := strconv.ParseFloat(strings.TrimSuffix(share, "%"), 64)
	if !ok || mode == "" || err != nil || !(v > 0 && v < 50) {
		return fmt.Errorf("write a mode and a percentage above 0 and below 50, as in entity:store=10%%")
	}
	s.mode, s.percent[1] = mode, v
	return nil
}

// String returns what ParseSplit reads back to an equal SplitSpec.
func (s SplitSpec) String() string {
	switch s.kind {
	case "":
		return ""
	case "random":
		return fmt.Sprintf("random:%g/%g/%g", s.percent[0], s.percent[1], s.percent[2])
	case "time":
		if s.mode != "" {
			return fmt.Sprintf("time:last=%d,mode=%s", s.last, s.mode)
		}
		return fmt.Sprintf("time:last=%d", s.last)
	case "entity":
		return fmt.Sprintf("entity:%s=%g%%", s.mode, s.percent[1])
	}
	return s.kind + ":" + s.source
}

// Column returns the column that Schema.Part must name before the table is read,
// or "".
func (s SplitSpec) Column() string {
	if s.kind == "column" {
		return s.source
	}
	return ""
}

// Apply splits a table. The same table, specification and seed give the same
// split; sizes are exact. An empty train part and a split that leaves all rows in
// one part are errors.
func (s SplitSpec) Apply(t *Table, seed uint64) (*Split, error) {
	split := &Split{Spec: s.String(), Seed: seed}
	var err error
	switch s.kind {
	case "random":
		split.Parts = s.random(t.Len(), seed)
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
		split.Parts, err = readParts(s.source, t)
	default:
		panic("dataset: Apply of an empty SplitSpec")
	}
	if err != nil {
		return nil, err
	}
	counts := fmt.Sprintf("train %d, valid %d, test %d, unused %d", split.Count(Train), split.Count(Valid), split.Count(Test), split.Count(Unused))
	if split.Count(Train) == 0 {
		return nil, fmt.Errorf("split %s: the train part is empty (%s); choose another split", s, counts)
	}
	if split.Count(Train) == t.Len() && !(s.kind == "random" && s.percent[0] == 100) {
		return nil, fmt.Errorf("split %s: all rows are in the train part (%s); choose another split", s, counts)
	}
	return split, nil
}

func (s SplitSpec) random(n int, seed uint64) []Part {
	sizes := largestRemainder(n, s.percent)
	parts := make([]Part, 0, n)
	for p, size := range sizes {
		for range size {
			parts = append(parts, Part(p))
		}
	}
	r := rand.New(rand.NewPCG(seed, splitStream))
	r.Shuffle(n, func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return parts
}

// splitStream keeps the random numbers of splits apart from those that other
// purposes draw from the same seed.
const splitStream = 0x73706c6974 // "split"

// largestRemainder deals n to shares in percent: each gets the whole part of its
// due, and what is left goes to the largest remainders, the first of equal ones.
func largestRemainder(n int, percent [3]float64) [3]int {
	var sizes [3]int
	var remainder [3]float64
	left := n
	for i, p := range percent {
		due := float64(n) * p / 100
		sizes[i] = int(due + 1e-9)
		remainder[i] = due - float64(sizes[i])
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

func (t *Table) modeNamed(name string) (int, error) {
	var names []string
	for m, mode := range t.Modes {
		if mode.Name == name {
			return m, nil
		}
		names = append(names, mode.Name)
	}
	return 0, fmt.Errorf("the table has no mode %q%s; its modes are %s", name, suggest.Hint(name, names), strings.Join(names, ", "))
}

// byTime fills in the parts and their periods.
func (s SplitSpec) byTime(t *Table, split *Split) error {
	m := len(t.Modes) - 1
	if i, err := t.modeNamed("time"); err == nil {
		m = i
	}
	if s.mode != "" {
		var err error
		if m, err = t.modeNamed(s.mode); err != nil {
			return fmt.Errorf("split %s: %w", s, err)
		}
	}
	dict := t.Dicts[m]
	if dict.Len() <= 2*s.last {
		return fmt.Errorf("split %s: mode %s has %s, which leaves none to train on; choose last=%d or less",
			s, t.Modes[m].Name, count(dict.Len(), "period"), (dict.Len()-1)/2)
	}
	found, err := chronologyOf(t.Modes[m], dict.IDs())
	if err != nil {
		return fmt.Errorf("split %s: %w", s, err)
	}
	split.Note = found.note
	split.Periods = map[Part]string{}
	partOf := make([]Part, dict.Len())
	validFrom, testFrom := dict.Len()-2*s.last, dict.Len()-s.last
	for part, codes := range map[Part][]int32{Train: found.order[:validFrom], Valid: found.order[validFrom:testFrom], Test: found.order[testFrom:]} {
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

func (s SplitSpec) byEntity(t *Table, seed uint64) ([]Part, error) {
	m, err := t.modeNamed(s.mode)
	if err != nil {
		return nil, fmt.Errorf("split %s: %w", s, err)
	}
	n := t.Dicts[m].Len()
	held := max(1, int(math.Round(float64(n)*s.percent[1]/100)))
	if 2*held >= n {
		return nil, fmt.Errorf("split %s: mode %s has %s, too few to hold any out; choose another split", s, s.mode, count(n, "id"))
	}
	partOf := make([]Part, n)
	for i := range held {
		partOf[i], partOf[held+i] = Test, Valid
	}
	r := rand.New(rand.NewPCG(seed, splitStream))
	r.Shuffle(n, func(i, j int) { partOf[i], partOf[j] = partOf[j], partOf[i] })
	return partsOf(t.Codes[m], partOf), nil
}

func partsOf(codes []int32, partOf []Part) []Part {
	parts := make([]Part, len(codes))
	for k, code := range codes {
		parts[k] = partOf[code]
	}
	return parts
}
