package synthetic

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The moments agree with the averages of many draws.
func TestMomentsAgainstDraws(t *testing.T) {
	for _, c := range []struct {
		half   bool
		fields []float64
	}{{false, []float64{-1, 0.3, 1.7, 4}}, {true, []float64{0.2, 2.1, 3.6, 5.5}}} {
		l := newDistribution(0.6, c.half)
		r := rand.New(rand.NewPCG(1, 2))
		for _, f := range c.fields {
			const n = 200_000
			var y, squares, logs float64
			values := make([]float64, n)
			for i := range values {
				v := l.Value(f, r.NormFloat64())
				values[i] = v
				y += v / n
				squares += v * v / n
				logs += math.Log1p(v) / n
			}
			sd := math.Sqrt(squares - y*y)
			gotMean, gotSD, gotLog := l.Moments(f)
			if se := sd / math.Sqrt(n); math.Abs(gotMean-y) > 5*se+1e-4*y || math.Abs(gotSD/sd-1) > 0.03 || math.Abs(gotLog-logs) > 0.01 {
				t.Errorf("half %v, field %g: got mean %g, sd %g, log mean %g, want about %g, %g, %g", c.half, f, gotMean, gotSD, gotLog, y, sd, logs)
			}
			slices.Sort(values)
			if median := l.Value(f, 0); values[n/2-n/100] > median || values[n/2+n/100] < median {
				t.Errorf("half %v, field %g: got median %g, want about %g", c.half, f, median, values[n/2])
			}
		}
	}
}

// share assigns exactly the given number of rows, in proportion to sizes within bounds.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		rows, least, most int
		size              []float64
		want              []int
	}{
		{10, 1, 10, []float64{1, 1, 3}, []int{2, 2, 6}},
		{10, 3, 10, []float64{1, 1, 30}, []int{3, 3, 4}},
		{10, 1, 4, []float64{1, 1, 30}, []int{3, 3, 4}},
		{3, 1, 1, []float64{5, 1, 2}, []int{1, 1, 1}},
	} {
		if got := share(c.rows, c.size, c.least, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

// Columns that drive the truth explain their share of it, the others nothing.
func TestColumnsDriveTheTruth(t *testing.T) {
	shape, err := NewShape("alcohol", 0)
	if err != nil {
		t.Fatal(err)
	}
	set, err := NewSet(shape, 1)
	if err != nil {
		t.Fatal(err)
	}
	header, columns := set.ItemTable()
	explained := map[string]float64{}
	for c, name := range header {
		// Variance of the means by value for the first factor.
		total, n := map[string]float64{}, map[string]float64{}
		for i, value := range columns[c] {
			total[value] += set.item.factor[i][0]
			n[value]++
		}
		if len(n) > 100 {
			continue // a numeric column
		}
		for value, sum := range total {
			explained[name] += sum * sum / n[value] / float64(set.Items)
		}
	}
	if v := explained["category_name"]; v < 0.1 || v > sideShare {
		t.Errorf("share explained by category_name: got %.3f, want 0.1 to %g", v, sideShare)
	}
	if v := explained["pack"]; v > 0.01 {
		t.Errorf("share explained by pack: got %.3f, want at most 0.01", v)
	}
}
