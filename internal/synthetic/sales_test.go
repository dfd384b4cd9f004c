package synthetic

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// small returns the options of a small table.
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
		t.Error("the same seed gave different tables")
	}
	if first == text(2) {
		t.Error("different seeds gave the same table")
	}
	lines := strings.Split(first, "\n")
	if lines[0] != "year,month,store,item,units" || !strings.HasPrefix(lines[1], "2023,1,S0") {
		t.Errorf("got first lines %q", lines[:2])
	}
}

func TestTableIsSortedAndSparse(t *testing.T) {
	table := New(small(3))
	if n := table.Len(); n < 1500 || n > 12*700 {
		t.Fatalf("got %d rows, want 1500 to %d", n, 12*700)
	}
	key := func(k int) int64 {
		return (int64(table.Month[k])<<16|int64(table.Store[k]))<<16 | int64(table.Item[k])
	}
	for k := 1; k < table.Len(); k++ {
		if key(k) <= key(k-1) {
			t.Fatalf("row %d is not sorted after row %d", k, k-1)
		}
	}
	if slices.Min(table.Units) < 1 {
		t.Error("got a row without units")
	}
	// Sizes follow a power law: the largest store has several times the mean.
	counts := make([]int, 40)
	for _, s := range table.Store {
		counts[s]++
	}
	if largest := slices.Max(counts); largest < 3*table.Len()/40 {
		t.Errorf("got %d of %d rows for the largest store, want at least %d", largest, table.Len(), 3*table.Len()/40)
	}
}

// The formulas agree with the averages of many draws.
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
			t.Errorf("level %g: got mean %g, want about %g", f, got, y)
		}
		if got := table.LogMean(0); math.Abs(got-logs) > 0.005 {
			t.Errorf("level %g: got mean of log1p %g, want about %g", f, got, logs)
		}
	}
}

// The truth explains the documented share of the variance.
func TestAttainable(t *testing.T) {
	table := New(Default(1))
	if n := table.Len(); n < 200_000 || n > 300_000 {
		t.Errorf("got %d rows, want 200,000 to 300,000", n)
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
			t.Errorf("%s: got R2 %.3f of the truth, want %g to %g", c.name, r2, c.least, c.most)
		}
	}
}
