package synthetic

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// small is a table that takes no time to make.
func small(seed uint64) Options {
	return Options{Stores: 40, Items: 60, Months: 12, Pairs: 700, Seed: seed}
}

func TestSameSeedSameTable(t *testing.T) {
	text := func(seed uint64) string {
		var b bytes.Buffer
		if err := New(small(seed)).WriteCSV(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	first, again := text(1), text(1)
	if first != again {
		t.Error("one seed gave two tables")
	}
	if first == text(2) {
		t.Error("two seeds gave one table")
	}
	lines := strings.Split(first, "\n")
	if lines[0] != "year,month,store,item,units" || !strings.HasPrefix(lines[1], "2023,1,S0") {
		t.Errorf("the table begins %q", lines[:2])
	}
}

func TestTableIsSortedAndSparse(t *testing.T) {
	table := New(small(3))
	if n := table.Len(); n < 1500 || n > 12*700 {
		t.Fatalf("%d rows", n)
	}
	key := func(k int) int64 {
		return (int64(table.Month[k])<<16|int64(table.Store[k]))<<16 | int64(table.Item[k])
	}
	for k := 1; k < table.Len(); k++ {
		if key(k) <= key(k-1) {
			t.Fatalf("row %d does not follow row %d", k, k-1)
		}
	}
	if slices.Min(table.Units) < 1 {
		t.Error("a row without units")
	}
	// Sizes follow a power law: the largest store has several times the mean.
	counts := make([]int, 40)
	for _, s := range table.Store {
		counts[s]++
	}
	if largest := slices.Max(counts); largest < 3*table.Len()/40 {
		t.Errorf("the largest store has %d of %d rows", largest, table.Len())
	}
}

// The formulas agree with the average of many draws.
func TestExpectationsAgainstDraws(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range []float64{-2, 0.3, 2, 6} {
		table := &Table{Level: []float64{f}}
		const n = 400_000
		var y, logs, squares float64
		for range n {
			v := math.Ceil(math.Exp(f + noiseSD*r.NormFloat64()))
			y += v / n
			logs += math.Log1p(v) / n
			squares += v * v / n
		}
		se := math.Sqrt((squares-y*y)/n) + 1e-9
		if got := table.Mean(0); math.Abs(got-y) > 5*se {
			t.Errorf("level %g: mean %g, draws %g", f, got, y)
		}
		if got := table.LogMean(0); math.Abs(got-logs) > 0.005 {
			t.Errorf("level %g: mean of log1p %g, draws %g", f, got, logs)
		}
	}
}

// The truth explains what the package says it does.
func TestAttainable(t *testing.T) {
	table := New(Default(1))
	if n := table.Len(); n < 200_000 || n > 300_000 {
		t.Errorf("%d rows", n)
	}
	for _, c := range []struct {
		name        string
		scale       func(float64) float64
		best        func(row int) float64
		least, most float64
	}{
		{"log1p", math.Log1p, table.LogMean, 0.83, 0.87},
		{"units", func(y float64) float64 { return y }, table.Mean, 0.65, 0.85},
	} {
		var mean, left, total, n float64
		for k := 0; k < table.Len(); k += 10 {
			mean += c.scale(float64(table.Units[k]))
			n++
		}
		mean /= n
		for k := 0; k < table.Len(); k += 10 {
			y := c.scale(float64(table.Units[k]))
			left += (y - c.best(k)) * (y - c.best(k))
			total += (y - mean) * (y - mean)
		}
		if r2 := 1 - left/total; r2 < c.least || r2 > c.most {
			t.Errorf("the truth explains %.3f of the variance of %s", r2, c.name)
		}
	}
}
