package baseline

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// monthly returns a table of series by month: training months 0 to 35, validation months
// 36 to 38, test months 39 to 41. Series 5 begins in the test set.
func monthly(value func(rng *rand.Rand, series, month int) float64) Table {
	rng := rand.New(rand.NewPCG(5, 5))
	const last = 42
	t := Table{Names: []string{"shop", "month"}, Sizes: []int{6, last}, Threads: 2,
		Time: &Time{Mode: 1, Seasons: []Season{{4, "same quarter"}, {12, "same month of the last year"}}}}
	for p := range t.Parts {
		t.Parts[p].Codes = make([][]int32, 2)
	}
	for month := range last {
		for s := range 6 {
			part := Train
			switch {
			case month >= 39:
				part = Test
			case month >= 36:
				part = Valid
			}
			if s == 5 && part != Test {
				continue
			}
			code := int32(s)
			if s == 5 {
				code = -1
			}
			rows := &t.Parts[part]
			rows.Codes[0] = append(rows.Codes[0], code)
			time := int32(month)
			if part != Train {
				time = -1 // as the model sees it
			}
			rows.Codes[1] = append(rows.Codes[1], time)
			t.Time.Periods[part] = append(t.Time.Periods[part], int32(month))
			rows.Y = append(rows.Y, float32(value(rng, s, month)))
		}
	}
	return t
}

// Values that repeat every year are predicted by the same month, also of rows more than
// a year ahead of the training rows.
func TestSameMonthOfLastYear(t *testing.T) {
	t.Parallel()
	tab := monthly(func(rng *rand.Rand, s, month int) float64 { return 100 + 10*effect(int32(s), int32(month%12)) })
	tab.Time.Periods[Test][0] = 51 // month 3, two years after month 27
	formulas := Fit(tab)
	best := &formulas[0]
	if want := "same month of the last year by shop"; best.Name != want || best.Loss > 1e-9 {
		t.Fatalf("best is %q (%s) with loss %g, want %q", best.Name, best.Setting, best.Loss, want)
	}
	got := predictions(best, Test, 18)
	for i, v := range got {
		s, month := i%6, 39+i/6
		want := 100 + 10*effect(int32(s), int32(month%12))
		if s == 5 {
			want = mean(tab.Parts[Train].Y) // an unseen series
		}
		if math.Abs(v-want) > 1e-4 {
			t.Errorf("shop %d, month %d: got %g, want %g", s, month, v, want)
		}
	}
}

func mean(y []float32) float64 {
	sum := 0.0
	for _, v := range y {
		sum += float64(v)
	}
	return sum / float64(len(y))
}

// Random walks are predicted by their last values, values around a moving level by the
// mean of a few.
func TestLastValues(t *testing.T) {
	t.Parallel()
	var level [6]float64
	walk := func(noise float64) func(rng *rand.Rand, s, month int) float64 {
		return func(rng *rand.Rand, s, month int) float64 {
			if month == 0 {
				level[s] = 0
			}
			if month < 36 {
				level[s] += 5 * rng.NormFloat64()
			}
			return level[s] + noise*rng.NormFloat64()
		}
	}
	tab := monthly(walk(0))
	formulas := Fit(tab)
	if best := &formulas[0]; best.Name != "last value by shop" || best.Loss > 1e-9 {
		t.Errorf("best is %q with loss %g, want the last value", best.Name, best.Loss)
	}
	f := find(t, formulas, "last value by shop")
	if got, want := predictions(f, Test, 2)[1], float64(tab.Parts[Train].Y[35*5+1]); got != want {
		t.Errorf("last value of shop 1: got %g, want %g", got, want)
	}
	formulas = Fit(monthly(walk(10)))
	if best := formulas[0].key; best != "last mean" {
		t.Errorf("best is %q with loss %g, want the mean of a few last values", formulas[0].Name, formulas[0].Loss)
	}
}

// The order of the rows in the table does not matter, nor does a mode that the period
// determines, such as the month of the year: it does not make a series of its own.
func TestSeriesOfAnyOrder(t *testing.T) {
	t.Parallel()
	tab := monthly(func(rng *rand.Rand, s, month int) float64 {
		return 100 + 10*effect(int32(s), int32(month%12)) + rng.NormFloat64()
	})
	want := Fit(tab)
	for p := range tab.Parts {
		rows := &tab.Parts[p]
		slices.Reverse(rows.Codes[0])
		slices.Reverse(rows.Codes[1])
		slices.Reverse(rows.Y)
		slices.Reverse(tab.Time.Periods[p])
	}
	for i, got := range Fit(tab) {
		if got.Name != want[i].Name || math.Abs(got.Loss-want[i].Loss) > 1e-9 {
			t.Errorf("formula %d: got %q %g, want %q %g", i, got.Name, got.Loss, want[i].Name, want[i].Loss)
		}
	}
	tab.Names, tab.Sizes = append(tab.Names, "season"), append(tab.Sizes, 12)
	for p := range tab.Parts {
		var season []int32
		for _, month := range tab.Time.Periods[p] {
			season = append(season, month%12)
		}
		tab.Parts[p].Codes = append(tab.Parts[p].Codes, season)
	}
	find(t, Fit(tab), "last value by shop")
}

// Without validation rows the last training months are predicted for the choice.
func TestSeriesWithoutValidationRows(t *testing.T) {
	t.Parallel()
	tab := monthly(func(rng *rand.Rand, s, month int) float64 { return 100 + 10*effect(int32(s), int32(month%12)) })
	tab.Parts[Valid], tab.Time.Periods[Valid] = Rows{Codes: make([][]int32, 2)}, nil
	formulas := Fit(tab)
	if want := "same month of the last year by shop"; formulas[0].Name != want {
		t.Errorf("best is %q, want %q", formulas[0].Name, want)
	}
	if v := predictions(&formulas[0], Test, 1)[0]; math.Abs(v-(100+10*effect(0, 3))) > 1e-4 {
		t.Errorf("got %g, want %g", v, 100+10*effect(0, 3))
	}
}

// With no other mode than time there is one series.
func TestOneSeries(t *testing.T) {
	t.Parallel()
	tab := monthly(func(rng *rand.Rand, s, month int) float64 { return 50 + float64(month%12) })
	tab.Names, tab.Sizes = tab.Names[1:], tab.Sizes[1:]
	for p := range tab.Parts {
		tab.Parts[p].Codes = tab.Parts[p].Codes[1:]
	}
	tab.Time.Mode = 0
	formulas := Fit(tab)
	if want := "same month of the last year"; formulas[0].Name != want || formulas[0].Loss > 1e-9 {
		t.Errorf("best is %q with loss %g, want %q", formulas[0].Name, formulas[0].Loss, want)
	}
}

// Series that grow by the same step every month are continued by it; values that stop
// growing are better off with a damped step.
func TestDrift(t *testing.T) {
	t.Parallel()
	grow := func(stops float64) func(_ *rand.Rand, s, month int) float64 {
		return func(_ *rand.Rand, s, month int) float64 {
			steps := float64(month)
			if month >= 36 {
				steps = 35 + stops*float64(month-35)
			}
			return 50 + float64(1+s)*steps
		}
	}
	for want, stops := range map[string]float64{"drift by shop": 1, "damped drift by shop": 0.6} {
		tab := monthly(grow(stops))
		best := Fit(tab)[0]
		if best.Name != want {
			t.Errorf("best is %q (%s), want %q", best.Name, best.Setting, want)
		}
		if got := make([]float64, 1); want == "drift by shop" {
			if best.Predict(Test, 2, got); math.Abs(got[0]-(50+3*39)) > 1e-4 {
				t.Errorf("drift of a series of step 3 is %g in month 39, want %d", got[0], 50+3*39)
			}
		}
	}
	falling := monthly(func(_ *rand.Rand, s, month int) float64 { return max(0, float64(38-month)) })
	for _, f := range Fit(falling) {
		if f.key == "drift" {
			got := make([]float64, 1)
			if f.Predict(Test, len(falling.Parts[Test].Codes[0])-2, got); got[0] != 0 {
				t.Errorf("a falling series of counts has the forecast %g, want 0", got[0])
			}
		}
	}
}
