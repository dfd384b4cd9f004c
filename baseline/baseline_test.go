package baseline

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// table returns a table with modes a, b, ... whose cells and targets are drawn; draw may change the cell.
func table(sizes []int, rows [3]int, draw func(rng *rand.Rand, cell []int32) float64) Table {
	rng := rand.New(rand.NewPCG(7, 1))
	t := Table{Sizes: sizes, Threads: 2}
	for m := range sizes {
		t.Names = append(t.Names, string(rune('a'+m)))
	}
	for p, n := range rows {
		part := &t.Parts[p]
		part.Codes = make([][]int32, len(sizes))
		for range n {
			cell := make([]int32, len(sizes))
			for m, size := range sizes {
				cell[m] = int32(rng.IntN(size))
			}
			part.Y = append(part.Y, float32(draw(rng, cell)))
			for m, c := range cell {
				part.Codes[m] = append(part.Codes[m], c)
			}
		}
	}
	return t
}

func predictions(f *Formula, part Part, n int) []float64 {
	dst := make([]float64, n)
	f.Predict(part, 0, dst)
	return dst
}

func find(t *testing.T, formulas []Formula, name string) *Formula {
	t.Helper()
	for i := range formulas {
		if formulas[i].Name == name {
			return &formulas[i]
		}
	}
	var names []string
	for _, f := range formulas {
		names = append(names, f.Name)
	}
	t.Fatalf("no formula %q among %q", name, names)
	return nil
}

// effect is a fixed pseudo-random number of some codes.
func effect(codes ...int32) float64 {
	h := uint64(12345)
	for _, c := range codes {
		h = (h ^ uint64(c+1)) * 0x9e3779b97f4a7c15
		h ^= h >> 31
	}
	return float64(h%1000)/500 - 1
}

// The pair that matters need not be that of the two modes with the most ids.
func TestBestPairIsNotOfTheLargestModes(t *testing.T) {
	t.Parallel()
	tab := table([]int{8, 9, 120}, [3]int{3000, 1000, 1000}, func(rng *rand.Rand, c []int32) float64 {
		return 10 + 5*effect(c[0], c[1]) + 0.3*rng.NormFloat64()
	})
	formulas := Fit(tab)
	if !strings.HasPrefix(formulas[0].Name, "mean by a and b") {
		t.Errorf("best is %q, want the mean by a and b", formulas[0].Name)
	}
	best, other := find(t, formulas, "mean by a and b"), find(t, formulas, "mean by b and c")
	if best.Loss > 0.2 || other.Loss < 5 {
		t.Errorf("losses of a and b %g, of b and c %g; want about 0.1 and above 5", best.Loss, other.Loss)
	}
}

// A formula cannot depend on the test rows' targets: they are not part of its input. Its
// choice does not depend on the ids of test rows either.
func TestChoiceIgnoresTestRows(t *testing.T) {
	t.Parallel()
	tab := table([]int{8, 9, 20}, [3]int{800, 300, 300}, func(rng *rand.Rand, c []int32) float64 {
		return 5 + effect(c[0], c[1]) + effect(c[1], c[2]) + rng.NormFloat64()
	})
	want := Fit(tab)
	for i := range tab.Parts[Test].Y {
		tab.Parts[Test].Y[i] *= -1000
		tab.Parts[Test].Codes[i%3][i] = -1
	}
	got := Fit(tab)
	for i := range want {
		if got[i].Name != want[i].Name || got[i].Setting != want[i].Setting || got[i].Loss != want[i].Loss {
			t.Errorf("formula %d: got %q (%s), want %q (%s)", i, got[i].Name, got[i].Setting, want[i].Name, want[i].Setting)
		}
	}
}

// The shrunk means are those of the package comment.
func TestMeansByHand(t *testing.T) {
	t.Parallel()
	train := Rows{Codes: [][]int32{{0, 0, 1, 1}, {0, 1, 0, 0}}, Y: []float32{4, 8, 6, 2}}
	rows := Rows{Codes: [][]int32{{0, 1, -1}, {0, 0, 1}}, Y: []float32{4, 4, 5}}
	tab := Table{Names: []string{"a", "b"}, Sizes: []int{2, 2}, Parts: [3]Rows{train, rows, {Codes: rows.Codes}}, Threads: 1}
	f := &fitter{Table: &tab, decided: map[string]decision{"mean": {}, "mean/a": {2, 0}, "mean/b": {2, 0}, "mean/a/b": {len(counts) + 2, 0}, "mean/a/b*/a": {2, 0}}}
	formulas := fit(&tab, f.decided)
	const mean = 5.0
	a := []float64{(12 + mean) / 3, (8 + mean) / 3}
	b := []float64{(12 + mean) / 4, (8 + mean) / 2}
	p00, p10, p01 := (4+b[0])/2, (8+b[0])/3, (8+b[1])/2
	factor := []float64{(2*12/(p00+p01) + 1) / 3, (2*8/(2*p10) + 1) / 3}
	for name, want := range map[string][]float64{
		"mean of all rows":                   {mean, mean, mean},
		"mean by a":                          {a[0], a[1], mean},
		"mean by b":                          {b[0], b[0], b[1]},
		"mean by a and b":                    {p00, p10, b[1]},
		"mean by a and b, times factor by a": {p00 * factor[0], p10 * factor[1], b[1]},
	} {
		got := predictions(find(t, formulas, name), Test, 3)
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-6 {
				t.Errorf("%s: got %g, want %g", name, got, want)
				break
			}
		}
	}
}

// The mean by a pair is left out if no validation row has a pair of the training rows.
func TestPairsThatOccurOnce(t *testing.T) {
	t.Parallel()
	next := int32(0)
	tab := table([]int{40, 50}, [3]int{1200, 400, 400}, func(rng *rand.Rand, c []int32) float64 {
		c[0], c[1] = next%40, (next/40+next)%50
		next++
		return math.Exp(effect(c[0]) + effect(60+c[1]))
	})
	formulas := Fit(tab)
	for i := range formulas {
		if strings.HasPrefix(formulas[i].Name, "mean by a and b") {
			t.Errorf("%q is listed", formulas[i].Name)
		}
	}
	if !strings.Contains(formulas[0].Name, "times factor") {
		t.Errorf("best is %q, want a mean times a factor", formulas[0].Name)
	}
}

// Sums of effects are found, also if the modes overlap unevenly.
func TestAdditiveEffects(t *testing.T) {
	t.Parallel()
	draw := func(rng *rand.Rand, c []int32) float64 {
		c[1] = (c[0] + int32(rng.ExpFloat64()*8)) % 40 // the modes are correlated
		return 3*effect(c[0]) + 2*effect(100+c[1]) + 0.5*rng.NormFloat64()
	}
	tab := table([]int{40, 40, 6}, [3]int{4000, 1000, 1000}, draw)
	formulas := Fit(tab)
	if f := find(t, formulas, "sum of effects of a, b and c"); f.Loss > 0.27 || formulas[0].Name != f.Name {
		t.Errorf("got loss %g, best %q; want 0.25 and the sum of effects", f.Loss, formulas[0].Name)
	}
}

func TestWeightTwoEqualsTwoRows(t *testing.T) {
	t.Parallel()
	once := table([]int{5, 6, 4}, [3]int{300, 100, 50}, func(rng *rand.Rand, c []int32) float64 {
		return 5 + effect(c[0], c[1]) + rng.NormFloat64()
	})
	twice := once
	for p := range 2 {
		from := once.Parts[p]
		to := &twice.Parts[p]
		*to = Rows{Codes: make([][]int32, 3)}
		for i, y := range from.Y {
			n := 1 + i%2
			once.Parts[p].W = append(once.Parts[p].W, float32(n))
			for range n {
				for m := range from.Codes {
					to.Codes[m] = append(to.Codes[m], from.Codes[m][i])
				}
				to.Y = append(to.Y, y)
			}
		}
	}
	a, b := Fit(once), Fit(twice)
	for i := range a {
		if a[i].Name != b[i].Name || math.Abs(a[i].Loss-b[i].Loss) > 1e-5 {
			t.Errorf("formula %d: got %q %g with weights, want %q %g as with repeated rows", i, a[i].Name, a[i].Loss, b[i].Name, b[i].Loss)
		}
	}
}

// Targets of both signs get offsets in place of factors, and all predictions are finite.
func TestNegativeTargets(t *testing.T) {
	t.Parallel()
	tab := table([]int{10, 12, 8}, [3]int{3000, 800, 100}, func(rng *rand.Rand, c []int32) float64 {
		return 3*effect(c[0], c[1]) + 2*effect(7, c[2]) + 0.2*rng.NormFloat64()
	})
	formulas := Fit(tab)
	if want := "mean by a and b, plus offset by"; !strings.HasPrefix(formulas[0].Name, want) || formulas[0].Loss > 0.08 {
		t.Errorf("best is %q with loss %g, want %q with about 0.05", formulas[0].Name, formulas[0].Loss, want)
	}
	for i := range formulas {
		if strings.Contains(formulas[i].Name, "factor") {
			t.Errorf("%q for a target with negative values", formulas[i].Name)
		}
	}
}

// Any number of modes, few rows and rare ids give finite predictions of a limited number
// of formulas.
func TestNumbersOfModes(t *testing.T) {
	t.Parallel()
	for _, sizes := range [][]int{{5}, {5, 2}, {2, 5, 3}, {5, 2, 3, 4}, {5, 2, 3, 4, 3}, {5, 2, 3, 4, 3, 2, 7, 3}} {
		for _, rows := range [][3]int{{1, 0, 3}, {60, 0, 20}, {60, 20, 20}} {
			tab := table(sizes, rows, func(rng *rand.Rand, c []int32) float64 { return math.Round(3 * rng.Float64()) })
			for i := range rows[2] {
				tab.Parts[Test].Codes[i%len(sizes)][i] = -1
			}
			formulas := Fit(tab)
			if len(formulas) > maxFormulas+max(0, len(sizes)-maxPairModes) || len(formulas) < 1 {
				t.Errorf("sizes %v: %d formulas", sizes, len(formulas))
			}
			for k := range formulas {
				for i, v := range predictions(&formulas[k], Test, rows[2]) {
					if math.IsNaN(v) || math.Abs(v) > 100 {
						t.Errorf("sizes %v, %q, row %d: got %g", sizes, formulas[k].Name, i, v)
					}
				}
			}
		}
	}
}

// For a constant target the simplest formula is the best.
func TestConstantTarget(t *testing.T) {
	t.Parallel()
	for _, value := range []float64{0, 0.1, -3} {
		tab := table([]int{5, 6, 4}, [3]int{300, 100, 50}, func(*rand.Rand, []int32) float64 { return value })
		formulas := Fit(tab)
		if formulas[0].Name != "mean of all rows" || formulas[0].Loss != 0 {
			t.Errorf("value %g: best is %q with loss %g", value, formulas[0].Name, formulas[0].Loss)
		}
		for i := range formulas {
			for _, v := range predictions(&formulas[i], Test, 50) {
				if math.Abs(v-value) > 1e-6 {
					t.Fatalf("value %g: %q predicts %g", value, formulas[i].Name, v)
				}
			}
		}
	}
}

// Without validation rows the choice is made inside the training rows.
func TestWithoutValidationRows(t *testing.T) {
	t.Parallel()
	tab := table([]int{8, 9, 300}, [3]int{3000, 0, 500}, func(rng *rand.Rand, c []int32) float64 {
		return 10 + 5*effect(c[0], c[1]) + 0.3*rng.NormFloat64()
	})
	formulas := Fit(tab)
	if !strings.HasPrefix(formulas[0].Name, "mean by a and b") {
		t.Errorf("best is %q, want the mean by a and b", formulas[0].Name)
	}
	sum := 0.0
	for i, v := range predictions(&formulas[0], Test, 500) {
		d := v - float64(tab.Parts[Test].Y[i])
		sum += d * d / 500
	}
	if sum > 0.15 {
		t.Errorf("squared error %g, want about 0.09", sum)
	}
}

// Neither the number of threads nor the way of finding pairs changes the result.
func TestSameResultOnAnyNumberOfThreads(t *testing.T) {
	t.Parallel()
	tab := table([]int{700, 900, 5}, [3]int{40_000, 20_000, 100}, func(rng *rand.Rand, c []int32) float64 {
		return 5 + effect(c[0]) + effect(c[1]) + rng.NormFloat64()
	})
	var want []Formula
	for _, threads := range []int{1, 3} {
		tab.Threads = threads
		got := Fit(tab)
		for i := range want {
			if got[i].Name != want[i].Name || got[i].Loss != want[i].Loss || !reflect.DeepEqual(predictions(&got[i], Test, 100), predictions(&want[i], Test, 100)) {
				t.Errorf("%q: differs with %d threads", got[i].Name, threads)
			}
		}
		want = got
	}
}

// Pairs are the same in a dense table and in a hash table.
func TestCombine(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	for _, size := range []int{20, 5000} { // 400 pairs and 25 million
		var a, b coding
		a.size, b.size = size, size
		for p, n := range []int{2000, 500, 0} {
			for range n {
				a.parts[p] = append(a.parts[p], int32(rng.IntN(size+1)-1)*int32(min(p, 1))+int32(1-min(p, 1))*int32(rng.IntN(size)))
				b.parts[p] = append(b.parts[p], int32(rng.IntN(size)))
			}
		}
		c := combine(3, &a, &b)
		seen := map[[2]int32]int32{}
		for p := range c.parts {
			for i, g := range c.parts[p] {
				key := [2]int32{a.parts[p][i], b.parts[p][i]}
				want, known := seen[key]
				switch {
				case !known && Part(p) == Train:
					want = int32(len(seen))
					seen[key] = want
				case !known:
					want = -1
				}
				if g != want {
					t.Fatalf("size %d, part %d, row %d: got %d, want %d", size, p, i, g, want)
				}
			}
		}
		if c.size != len(seen) {
			t.Errorf("got %d pairs, want %d", c.size, len(seen))
		}
	}
	if got := distinct([]int32{3, 1, 3}); !slices.Equal(got, []int32{1, 3}) {
		t.Errorf("got %v", got)
	}
}
