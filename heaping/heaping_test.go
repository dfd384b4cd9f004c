package heaping

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/predictive/noisemodel"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// cases are rows of items that are sold by the case of 6 or 12, or singly, by stores of which
// some pairs always buy the same number.
type cases struct {
	codes [][]int32
	y     []float64
	level []float64
}

const items, stores = 30, 40

func simulate(rows int, seed uint64) cases {
	rng := rand.New(rand.NewPCG(seed, 1))
	c := cases{codes: [][]int32{make([]int32, rows), make([]int32, rows)}}
	for i := range rows {
		item, store := rng.IntN(items), rng.IntN(stores)
		c.codes[0][i], c.codes[1][i] = int32(item), int32(store)
		level := 1.5 + 0.05*float64(item)
		y := math.Exp(level + 0.6*rng.NormFloat64())
		pack := []float64{1, 6, 12}[item%3]
		y = max(1, math.Round(y/pack)) * pack
		if (item+store)%5 == 0 {
			y = 24
		}
		c.y, c.level = append(c.y, y), append(c.level, level)
	}
	return c
}

func (c cases) rows() Rows {
	return Rows{Codes: c.codes, Len: len(c.y), Target: func(i int) float64 { return c.y[i] }, Distributions: func() func(int) *predictive.Distribution {
		var d predictive.Distribution
		return func(i int) *predictive.Distribution { d = c.smooth(i); return &d }
	}}
}

func (c cases) smooth(i int) predictive.Distribution {
	return predictive.Gaussian(targetscale.Log1p, c.level[i], 0.05, 0.6).NonNegative()
}

// pairs is the index of combinations.
type pairs struct{}

func (pairs) Entity(codes [][]int32, row int) int32 {
	return codes[0][row]*stores + codes[1][row]
}

func (x pairs) LookupFrom(dst []int32, codes [][]int32, from int) {
	for i := range dst {
		dst[i] = x.Entity(codes, from+i)
	}
}

func factorsOf() []Factor {
	return []Factor{{Modes: []int{0}, Index: noisemodel.ModeCode(0), Entities: items}, {Modes: []int{1}, Index: noisemodel.ModeCode(1), Entities: stores},
		{Modes: []int{0, 1}, Index: pairs{}, Entities: items * stores, Pair: true}}
}

// measure returns mean CRPS, mean log probability, and the share of values in 90 % intervals.
func measure(c cases, t *Table) (crps, log, inside float64) {
	var h predictive.Heaped
	n := float64(len(c.y))
	for i, y := range c.y {
		d := c.smooth(i)
		if t != nil {
			t.Apply(&d, &h, c.codes, nil, i)
		}
		crps += d.CRPS(y) / n
		log += d.LogDensity(y) / n
		if low, high := d.Quantile(0.05), d.Quantile(0.95); low <= y && y <= high {
			inside += 1 / n
		}
	}
	return crps, log, inside
}

func TestLearn(t *testing.T) {
	t.Parallel()
	train, test := simulate(8_000, 1), simulate(2_000, 2)
	table := Learn(2, targetscale.Log1p, train.rows(), factorsOf())
	if table == nil {
		t.Fatal("no factors were learned")
	}
	levels := table.Levels()
	if last := levels[len(levels)-1]; !last.Pair || len(levels) < 3 {
		t.Errorf("%d levels, the last %v: expected those of all, items and pairs", len(levels), last.Modes)
	}
	before, _, _ := measure(test, nil)
	after, log, inside := measure(test, table)
	if after > 0.7*before {
		t.Errorf("CRPS %.3f with factors, %.3f without", after, before)
	}
	if inside < 0.87 || inside > 0.97 {
		t.Errorf("90 %% intervals hold %.3f", inside)
	}
	few, logFew, _ := measure(test, &Table{levels: levels[:1], cells: table.cells})
	if after >= few || log <= logFew {
		t.Errorf("CRPS %.3f and log probability %.3f with all factors, %.3f and %.3f with the first", after, log, few, logFew)
	}
	if again := Learn(1, targetscale.Log1p, train.rows(), factorsOf()); len(again.levels) != len(levels) || !bytes.Equal(again.levels[1].Entry, levels[1].Entry) {
		t.Error("the factors depend on the number of threads")
	}
}

// TestLearnTogether: processes that share the work learn the same factors.
func TestLearnTogether(t *testing.T) {
	t.Parallel()
	c := simulate(8_000, 1)
	want := Learn(1, targetscale.Log1p, c.rows(), factorsOf()).Levels()
	backendtest.OnRanks(3, func(r backend.Ranks) {
		rows := c.rows()
		rows.Group = r
		if got := Learn(1, targetscale.Log1p, rows, factorsOf()).Levels(); !reflect.DeepEqual(got, want) {
			t.Errorf("rank %d: got the levels %v, want %v", r.Rank(), got, want)
		}
	})
}

// TestNothingToLearn: whole numbers without heaps get no factors of modes or pairs.
func TestNothingToLearn(t *testing.T) {
	t.Parallel()
	c := simulate(8_000, 3)
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range c.y {
		c.y[i] = math.Round(max(math.Exp(c.level[i]+math.Sqrt(0.65)*rng.NormFloat64())-1, 0))
	}
	if table := Learn(2, targetscale.Log1p, c.rows(), factorsOf()); table != nil && len(table.Levels()) > 1 {
		t.Errorf("%d levels for values that are not heaped", len(table.Levels()))
	}
}

// TestBorder checks that the border brings the share of rows inside 90 % intervals to 90 %, where
// the end of every interval is one of few integers.
func TestBorder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 6))
	var below, upTo []float64
	for range 20_000 {
		at, width := rng.Float64(), 0.3*rng.Float64() // of an integer of this probability
		from := max(at-width*rng.Float64(), 0)
		below, upTo = append(below, from), append(upTo, min(from+width, 1))
	}
	inside := func(border float64) (n int) {
		for i := range below {
			if high, low := predictive.HeapedLimits(below[i], upTo[i], border); low >= 0.05 && high <= 0.95 {
				n++
			}
		}
		return n
	}
	got := new(Table).WithBorder(2, below, upTo).border
	for k := range 21 {
		border := float64(k) / 20
		if math.Abs(float64(inside(border))-18_000) < math.Abs(float64(inside(got))-18_000)-1 {
			t.Errorf("border %g with %d rows inside; %g has %d", got, inside(got), border, inside(border))
		}
	}
	if inside(0) >= inside(1) {
		t.Errorf("%d rows inside the narrowest intervals, %d inside the widest", inside(0), inside(1))
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	train := simulate(3_000, 5)
	table := Learn(2, targetscale.Log1p, train.rows(), factorsOf())
	pit := make([]float64, 1000)
	for i := range pit {
		pit[i] = math.Sqrt(float64(i) / 1000) // levels are too low
	}
	if table = table.Calibrated(1, pit); math.Abs(table.curve[curveSteps/2]-0.25) > 0.01 {
		t.Errorf("the level 1/2 becomes %g, expected 1/4", table.curve[curveSteps/2])
	}
	for _, bad := range [][]float64{nil, {0, 2, 1}, {0.1, 1}, {0, 0.9}, {0, math.NaN(), 1}} {
		if err := new(Table).setCurve(bad, 0.5); err == nil {
			t.Errorf("levels %v: no error", bad)
		}
	}
	for _, bad := range []float64{-0.1, 1.1, math.NaN()} {
		if err := new(Table).setCurve([]float64{0, 1}, bad); err == nil {
			t.Errorf("border %v: no error", bad)
		}
	}
	table.border = 0.25
	f := &modelfile.File{Meta: map[string]string{}}
	if err := table.AddTo(f); err != nil {
		t.Fatal(err)
	}
	index := func(modes []int) noisemodel.EntityIndex {
		if len(modes) == 2 {
			return pairs{}
		}
		return noisemodel.ModeCode(modes[0])
	}
	read, err := Read(f, targetscale.Log1p, index)
	if err != nil {
		t.Fatal(err)
	}
	if read.border != table.border {
		t.Errorf("border %g, after reading %g", table.border, read.border)
	}
	a, _, _ := measure(train, table)
	if b, _, _ := measure(train, read); a != b {
		t.Errorf("CRPS %g, after reading %g", a, b)
	}
	if none, err := Read(&modelfile.File{}, targetscale.Log1p, index); none != nil || err != nil {
		t.Errorf("a file without factors: %v, %v", none, err)
	}
	if _, err := Read(f, targetscale.Log1p, func([]int) noisemodel.EntityIndex { return nil }); err == nil {
		t.Error("no error for modes without entities")
	}
	for name, change := range map[string]func(l *Level){
		"order":    func(l *Level) { l.Start[1] = l.Start[2] + 1 },
		"length":   func(l *Level) { l.Entry = l.Entry[1:] },
		"strength": func(l *Level) { l.Strength = math.NaN() },
		"index":    func(l *Level) { l.Index = nil },
		"last":     func(l *Level) { l.Pair = true },
		"start":    func(l *Level) { l.Start = nil },
	} {
		bad, err := Read(f, targetscale.Log1p, index)
		if err != nil {
			t.Fatal(err)
		}
		levels := append([]Level(nil), bad.levels...)
		levels[1].Start = append([]int32(nil), levels[1].Start...)
		change(&levels[1])
		if _, err := NewTable(targetscale.Log1p, levels); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
