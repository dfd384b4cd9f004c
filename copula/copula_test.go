package copula

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/modelfile"
)

// simulated returns forecasts of all cells of two keys and some periods, from some origins, whose scores have shares in common, with draws that share
// those of c. The weights differ.
func simulated(seed uint64, origins, first, second, periods int, truth, c Copula) Rows {
	rng := rand.New(rand.NewPCG(seed, 1))
	draw := func(of Copula) func(origin, a, b, p int) float64 {
		shared, own := map[string]float64{}, math.Sqrt(1-of.total())
		return func(origin, a, b, p int) float64 {
			z := own * rng.NormFloat64()
			of.each(func(group, period int, share *float64) {
				if *share == 0 {
					return
				}
				key := fmt.Sprint(group, period, origin, [...]int{0, a, b}[group], p*period)
				if _, seen := shared[key]; !seen {
					shared[key] = rng.NormFloat64()
				}
				z += math.Sqrt(*share) * shared[key]
			})
			return z
		}
	}
	rows := Rows{Drawn: make([][]float32, 16), Keys: make([][]int32, 2)}
	known, drawn := draw(truth), make([]func(origin, a, b, p int) float64, len(rows.Drawn))
	for k := range drawn {
		drawn[k] = draw(c)
	}
	for origin := range origins {
		for a := range first {
			for b := range second {
				for p := range periods {
					rows.Score, rows.Weight, rows.Mean = append(rows.Score, known(origin, a, b, p)), append(rows.Weight, 1+float64(a%3)), append(rows.Mean, float64(a))
					rows.Origin, rows.Period, rows.Horizon = append(rows.Origin, int32(origin)), append(rows.Period, int32(origin+p)), append(rows.Horizon, int32(p+1))
					rows.Keys[0], rows.Keys[1] = append(rows.Keys[0], int32(a)), append(rows.Keys[1], int32(b))
					for k := range rows.Drawn {
						rows.Drawn[k] = append(rows.Drawn[k], float32(drawn[k](origin, a, b, p)))
					}
				}
			}
		}
	}
	return rows
}

// TestLearn checks that shares are found, without those that draws have.
func TestLearn(t *testing.T) {
	t.Parallel()
	two := func(all, first, second Shares) Copula { return Copula{all, []Shares{first, second}} }
	none := two(Shares{}, Shares{}, Shares{})
	for name, c := range map[string]struct{ truth, drawn, want Copula }{
		"nothing":          {none, none, none},
		"first key":        {two(Shares{}, Shares{.05, .1}, Shares{}), none, two(Shares{}, Shares{.05, .1}, Shares{})},
		"both keys":        {two(Shares{}, Shares{.1, 0}, Shares{0, .1}), none, two(Shares{}, Shares{.1, 0}, Shares{0, .1})},
		"known to draws":   {two(Shares{}, Shares{.1, .1}, Shares{}), two(Shares{}, Shares{.1, .1}, Shares{}), none},
		"larger than that": {two(Shares{}, Shares{0, .2}, Shares{}), two(Shares{}, Shares{0, .1}, Shares{}), two(Shares{}, Shares{0, .11}, Shares{})},
	} {
		rows := simulated(5, 1, 90, 60, 3, c.truth, c.drawn)
		got := Learn(2, rows, Series{})
		if !reflect.DeepEqual(got, Learn(1, rows, Series{})) {
			t.Errorf("%s: the result depends on the threads", name)
		}
		if got == nil {
			got = &Copula{Keys: make([]Shares, 2)}
		}
		for k, w := range c.want.Keys {
			if g := got.Keys[k]; math.Abs(g.Origin-w.Origin) > .035 || math.Abs(g.Period-w.Period) > .035 {
				t.Errorf("%s: got the shares %v of key %d, want %v", name, g, k, w)
			}
		}
	}
	// What all cells share is known from a few periods alone: the mean over tables is of the right size, and wider than the truth.
	mean := 0.0
	for seed := range uint64(30) {
		if c := Learn(1, simulated(seed, 4, 12, 12, 3, two(Shares{.1, .1}, Shares{}, Shares{}), none), Series{}); c != nil {
			mean += (c.All.Origin + c.All.Period) / 30
		}
	}
	if mean < .2 || mean > .35 {
		t.Errorf("all cells share %g of the variance on average, want about .27", mean)
	}
	if c := Learn(1, Rows{}, Series{}); c != nil {
		t.Errorf("got %v from no rows", c)
	}
}

// TestHistory checks the surprise of all cells of a period before the origin.
func TestHistory(t *testing.T) {
	t.Parallel()
	const series, steps, level, noise = 80, 48, 100, 10
	for name, c := range map[string]struct {
		season      float64 // amplitude
		shock, walk float64 // in units of the noise
		least, most float64 // of the variance
	}{
		"nothing":           {0, 0, 0, 0, .01},
		"season":            {30, 0, 0, 0, .01},
		"shocks":            {0, .5, 0, .15, .4},
		"walk":              {0, 0, .3, .09, .4},
		"shocks and season": {30, .5, 0, .3, .8},
	} {
		rng := rand.New(rand.NewPCG(5, 5))
		all, walk := make([]float64, steps), 0.0
		for s := range all {
			walk += c.walk * rng.NormFloat64()
			all[s] = noise*(c.shock*rng.NormFloat64()+walk) + c.season*math.Sin(math.Pi*float64(s)/6)
		}
		var of, step []int32
		var value []float64
		for n := range series {
			for s := range steps {
				of, step, value = append(of, int32(n)), append(step, int32(s)), append(value, level+all[s]+noise*rng.NormFloat64())
			}
		}
		before := NewSeries(append(of, -1), append(step, 0), func(row int) float64 { return value[row] }, []int32{12})
		got := before.history(Rows{Mean: []float64{level, level}, Weight: []float64{noise, noise}, Horizon: []int32{1, 2}})
		if !(got.variance >= c.least && got.variance <= c.most) || got.periods < 8 {
			t.Errorf("%s: got the variance %.3f from %g periods, want %g to %g", name, got.variance, got.periods, c.least, c.most)
		}
	}
	if got := NewSeries([]int32{0, 0}, []int32{1, 2}, func(int) float64 { return 1 }, nil).history(Rows{Mean: []float64{1}, Weight: []float64{1}, Horizon: []int32{1}}); got != (surprise{}) {
		t.Errorf("got %v from two rows, want nothing", got)
	}
}

// TestMix checks that mixed levels stay uniform, share what they should, and depend on nothing but the seed, the number of the draw
// and the ids.
func TestMix(t *testing.T) {
	t.Parallel()
	c := &Copula{Shares{.1, .2}, []Shares{{.15, .05}}}
	ids := [][2]string{{"a", "1"}, {"a", "2"}, {"b", "1"}, {"b", "2"}}
	const n = 20_000
	scores := make([][]float64, len(ids))
	for row := range ids {
		rng, levels := rand.New(rand.NewPCG(uint64(row), 3)), make([]float64, n)
		for k := range levels {
			levels[k] = rng.Float64()
		}
		few := slices.Clone(levels[:7])
		id := func(mode, row int) string { return ids[row][mode] }
		c.Mix(levels, 9, id, []int{0}, 1, row)
		if c.Mix(few, 9, id, []int{0}, 1, row); !slices.Equal(few, levels[:7]) {
			t.Errorf("7 of many draws are %v, want %v", levels[:7], few)
		}
		scores[row] = make([]float64, n)
		Scores(scores[row], levels)
		slices.Sort(levels)
		for k, p := range levels {
			if math.Abs(p-float64(k)/n) > 1.6/math.Sqrt(n) {
				t.Fatalf("row %d: the share of levels up to %g is %g", row, p, float64(k)/n)
			}
		}
	}
	for row, want := range []float64{1, .25, .3, .1} { // the same, its id, its period, neither
		got := 0.0
		for k, z := range scores[0] {
			got += z * scores[row][k] / n
		}
		if math.Abs(got-want) > .03 {
			t.Errorf("scores of %v and %v have the correlation %.3f, want %g", ids[0], ids[row], got, want)
		}
	}
}

// TestFile checks that a copula is read as it was written, and that impossible ones are errors.
func TestFile(t *testing.T) {
	t.Parallel()
	c := &Copula{Shares{.1, .2}, []Shares{{.15, .05}, {0, 0}}}
	got, err := Read(&modelfile.File{Tensors: c.Tensors()}, 2)
	if err != nil || !reflect.DeepEqual(got, c) {
		t.Errorf("got %v and %v, want %v", got, err, c)
	}
	parts := got.Parts(func(key int) string { return [...]string{"store", "item"}[key] })
	if want := []string{"0.1 of the variance: all cells in all periods", "0.2 of the variance: all cells in one period", "0.15 of the variance: store in all periods", "0.05 of the variance: store in one period"}; !slices.Equal(parts, want) {
		t.Errorf("got the parts %q, want %q", parts, want)
	}
	if got, err := Read(&modelfile.File{Tensors: (*Copula)(nil).Tensors()}, 2); got != nil || err != nil {
		t.Errorf("got %v and %v of a file without a copula", got, err)
	}
	for name, values := range map[string][]float64{"too few": {.1, .1}, "negative": {.1, -.1, .1, .1}, "NaN": {.1, math.NaN(), 0, 0}, "infinite": {.1, math.Inf(1), 0, 0}, "more than all": {.5, .5, .5, .5}} {
		if _, err := Read(&modelfile.File{Tensors: []modelfile.Tensor{modelfile.NewTensor(tensorName, values, len(values)/2, 2)}}, 1); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}
