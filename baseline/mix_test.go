package baseline

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMix(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 2000
	parts := make([][]float64, 4)
	y := make([]float64, n)
	for k, share := range []float64{0.5, 0, 0.4, 0.1} {
		for i := range n {
			v := rng.NormFloat64()
			parts[k] = append(parts[k], v)
			y[i] += share * v
		}
	}
	for count, want := range [][]float64{{}, {1}, {0.75, 0.25}, {0.53, 0.03, 0.43}, {0.5, 0, 0.4, 0.1}} {
		got := Mix(parts[:count], y)
		if len(got) != len(want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		for k := range want {
			if math.Abs(got[k]-want[k]) > 0.03 {
				t.Errorf("got the shares %.2f, want %.2f", got, want)
				break
			}
		}
	}
}

// The classic season is the value one season before, even where a mean of seasons has the
// lower loss.
func TestClassicSeasonIsTheLast(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	const years = 8 // of training; then one of validation and one of test
	table := Table{Names: []string{"time"}, Sizes: []int{12 * (years + 2)}, Time: &Time{Seasons: []Season{{Periods: 12, Name: "same month of the last year"}}}}
	for k := range int32(12 * (years + 2)) {
		part, code := Train, k
		if k >= 12*years {
			part, code = Valid+Part(k/12-years), -1
		}
		rows := &table.Parts[part]
		if rows.Codes == nil {
			rows.Codes = make([][]int32, 1)
		}
		rows.Codes[0], rows.Y = append(rows.Codes[0], code), append(rows.Y, float32(10*(k%12))+5*float32(rng.NormFloat64()))
		table.Time.Periods[part] = append(table.Time.Periods[part], k)
	}
	formulas := Classics(Fit(table))
	train := table.Parts[Train].Y
	change := 0.0 // the average, twice: the test year is two after the last training year
	for k := range 12 * (years - 1) {
		change += 2 * (float64(train[k+12]) - float64(train[k])) / (12 * (years - 1))
	}
	for f, more := range []float64{0, change} {
		season := formulas[len(formulas)-2+f]
		got := make([]float64, 12)
		season.Predict(Test, 0, got)
		for k, v := range got {
			if want := float64(train[12*(years-1)+k]) + more; math.Abs(v-want) > 1e-5 {
				t.Errorf("%s, month %d: got %g, want %g", season.Name, k+1, v, want)
			}
		}
	}
}
