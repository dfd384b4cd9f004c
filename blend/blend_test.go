package blend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/panel"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// months are ids of a year and a half.
func months(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("%d-%02d", 2015+i/12, i%12+1)
	}
	return ids
}

// table returns the table of n series whose value in month t is value(s, t), of the months
// before 18; series 0 has no row in month 7.
func table(t *testing.T, n int, value func(s, t int) float64) (*Table, []dataset.Mode, func(int) []string, [][]int32, []float64) {
	t.Helper()
	modes, err := dataset.ParseModes("store,time=month")
	if err != nil {
		t.Fatal(err)
	}
	all := [][]string{make([]string, n), months(24)}
	codes, y := make([][]int32, 2), []float64(nil)
	for at := 17; at >= 0; at-- { // out of order
		for s := range n {
			if s == 0 && at == 7 {
				continue
			}
			codes[0], codes[1] = append(codes[0], int32(s)), append(codes[1], int32(at))
			y = append(y, value(s, at))
		}
	}
	ids := func(m int) []string { return all[m] }
	p := panel.New(nil, 1, modes, ids, -1, panel.Rows{Codes: codes, Target: func(i int) float64 { return y[i] }})
	return New(2, p, codes, func(i int) float64 { return y[i] }, []int32{12, 100}, false), modes, ids, codes, y
}

func TestMean(t *testing.T) {
	t.Parallel()
	b, _, _, _, _ := table(t, 3, func(s, at int) float64 { return float64(100*s + at) })
	b.shares = [][]float64{{1, 0, 0}, {0.5, 0.3, 0.2}}
	b.edges = []float64{3}
	row := [][]int32{{0, 1, 9, -1}, {18, 18, 18, 18}}
	for _, c := range []struct {
		row         int
		horizon     int32
		share, rest float64
	}{
		{1, 1, 0.5, 0.3*115.5 + 0.2*106}, // months 14 to 17; month 6
		{1, 3, 0.5, 0.3*115.5 + 0.2*108},
		{1, 14, 0.5, 0.3*115.5 + 0.2*107}, // two seasons before
		{0, 2, 0.7, 0.3 * 15.5},           // month 7 is missing
		{2, 1, 1, 0}, {3, 1, 1, 0},        // not a known series
		{1, 0, 1, 0}, // no forecast
	} {
		if share, rest := b.Mean(4, row, c.row, c.horizon); math.Abs(share-c.share) > 1e-9 || math.Abs(rest-c.rest) > 1e-5 {
			t.Errorf("row %d, %d ahead: got %g of the model + %g, want %g + %g", c.row, c.horizon, share, rest, c.share, c.rest)
		}
	}
	if share, rest := b.Mean(2, row, 1, 1); share != 1 || rest != 0 {
		t.Errorf("got %g of the model + %g for a small forecast, want the model", share, rest)
	}
	smallest, largest := b.Parts()
	if got, want := strings.Join(append(smallest, largest...), ", "), "1 model, 0.5 model, 0.3 mean of the last 4 values, 0.2 value 12 months before"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestLearn checks that shares follow what is better, and that noise is left alone.
func TestLearn(t *testing.T) {
	t.Parallel()
	const n = 800
	rng := rand.New(rand.NewPCG(1, 2))
	level := make([]float64, n)
	for s := range level {
		level[s] = 20 + 10*rng.NormFloat64()
	}
	b, _, _, _, _ := table(t, n, func(s, at int) float64 { return level[s] + 4*rng.NormFloat64() })
	rows := Rows{Codes: make([][]int32, 2)}
	for s := range n {
		for h := range int32(3) {
			rows.Codes[0], rows.Codes[1] = append(rows.Codes[0], int32(s)), append(rows.Codes[1], 18+h)
			rows.Horizon, rows.Y = append(rows.Horizon, h+1), append(rows.Y, level[s]+4*rng.NormFloat64())
			rows.Mean = append(rows.Mean, 20+0.7*(level[s]-20)) // shrunk too much
			rows.Location = append(rows.Location, level[s])
		}
	}
	got := b.Learn(2, rows)
	if got == nil || !(got.shares[0][1] > 0.2) {
		t.Fatalf("got %+v, want a share of the recent mean", got)
	}
	for i := range rows.Mean {
		rows.Mean[i] = level[i/3]
	}
	if got := b.Learn(2, rows); got != nil {
		t.Errorf("got the shares %v beside the best forecast, want nothing", got.shares)
	}
}

// TestMove checks that forecasts follow what their series say, that those without values and
// rows that are no forecasts are left alone, and that what a period has in common is not learned.
func TestMove(t *testing.T) {
	t.Parallel()
	const n = 800
	rng := rand.New(rand.NewPCG(3, 4))
	level := make([]float64, n)
	for s := range level {
		level[s] = 2 * rng.NormFloat64()
	}
	b, _, _, _, _ := table(t, n, func(s, at int) float64 { return level[s] + rng.NormFloat64() })
	identity := targetscale.Identity
	rows := Rows{Codes: make([][]int32, 2)}
	for s := range n {
		for h := range int32(3) {
			rows.Codes[0], rows.Codes[1] = append(rows.Codes[0], int32(s)), append(rows.Codes[1], 18+h)
			rows.Horizon, rows.Y = append(rows.Horizon, h+1), append(rows.Y, level[s]+float64(h-1)+rng.NormFloat64())
			rows.Location = append(rows.Location, 0.5*level[s]) // shrunk too much
		}
	}
	got := b.LearnMove(2, identity, rows)
	if got == nil {
		t.Fatal("got no moves")
	}
	for _, s := range []int32{1, 2, 3} {
		row := [][]int32{{s}, {18}}
		if by, want := got.Move(identity, 0.5*level[s], row, 0, 1), 0.5*level[s]; math.Abs(by-want) > 0.6 {
			t.Errorf("series %d moves by %g, want %g", s, by, want)
		}
		if by := got.Move(identity, 0.5*level[s], row, 0, 0); by != 0 {
			t.Errorf("a row that is no forecast moves by %g", by)
		}
	}
	if f := got.Noise(1); !(f > 0.4 && f < 0.7) || got.Noise(0) != 1 || (*Table)(nil).Noise(1) != 1 {
		t.Errorf("got the factors %g and %g of the noise", f, got.Noise(0))
	}
	if by := got.Move(identity, 1, [][]int32{{-1}, {18}}, 0, 1); math.Abs(by) > 0.2 {
		t.Errorf("a new series moves by %g", by)
	}
	if parts := strings.Join(got.Moves(), ", "); !strings.Contains(parts, "mean of the last 12 months") || !strings.Contains(parts, "value 12 months before") {
		t.Errorf("got %s", parts)
	}
	surprised := rows
	surprised.Y = slices.Clone(rows.Y)
	for i := range surprised.Y {
		surprised.Y[i] += 10
	}
	if got := b.LearnMove(2, identity, surprised); got != nil {
		t.Errorf("got the moves %v from a surprise, want nothing", got.move)
	}
	before, _, _, _, _ := table(t, n, func(s, at int) float64 {
		if at < 14 {
			return level[s] + rng.NormFloat64() - 20
		}
		return level[s] + rng.NormFloat64()
	})
	if got := before.LearnMove(2, identity, rows); got != nil {
		t.Errorf("got the moves %v from values of another level, want nothing", got.move)
	}
	for i := range rows.Location {
		rows.Location[i] = level[i/3]
	}
	if got := b.LearnMove(2, identity, rows); got != nil {
		t.Errorf("got the moves %v beside the best forecast, want nothing", got.move)
	}
	if got := b.LearnMove(2, identity, Rows{}); got != nil || (*Table)(nil).Moves() != nil {
		t.Error("got moves from no rows")
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	b, _, _, _, _ := table(t, 3, func(s, at int) float64 { return float64(100*s + at) })
	b.move, b.noise = make([]float64, 1+b.features()), 0.9
	b.shares = [][]float64{{1, 0, 0}, {0.5, 0.3, 0.2}}
	b.edges = []float64{3}
	got, err := Read(&modelfile.File{Tensors: b.Tensors()}, b.series)
	if err != nil || !reflect.DeepEqual(got, b) {
		t.Fatalf("got %+v, %v, want %+v", got, err, b)
	}
	for want, change := range map[string]func(t *Table){
		"coefficient":   func(t *Table) { t.move[2] = math.Inf(1) },
		"factor of":     func(t *Table) { t.noise = 1.1 },
		"add up to":     func(t *Table) { t.shares[1][0] = 0.9 },
		"a share is":    func(t *Table) { t.shares[1][0], t.shares[1][1] = -0.3, 1.1 },
		"shape":         func(t *Table) { t.seasons = nil },
		"the edges":     func(t *Table) { t.edges[0] = math.NaN() },
		"has 1 steps":   func(t *Table) { t.seasons[0] = 1 },
		"one after":     func(t *Table) { t.start[1] = 1000 },
		"order of time": func(t *Table) { t.step[0] = 17 },
		"is NaN":        func(t *Table) { t.value[3] = float32(math.NaN()) },
	} {
		bad := *b
		bad.move = slices.Clone(b.move)
		bad.shares, bad.edges = [][]float64{slices.Clone(b.shares[0]), slices.Clone(b.shares[1])}, slices.Clone(b.edges)
		bad.seasons, bad.start, bad.step, bad.value = slices.Clone(b.seasons), slices.Clone(b.start), slices.Clone(b.step), slices.Clone(b.value)
		change(&bad)
		if _, err := Read(&modelfile.File{Tensors: bad.Tensors()}, b.series); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := Read(&modelfile.File{Tensors: b.Tensors()}, nil); err == nil {
		t.Error("got no error without series")
	}
	if got, err := Read(&modelfile.File{}, b.series); got != nil || err != nil {
		t.Errorf("got %v, %v of a file without the tensors", got, err)
	}
}

// TestWith compares further rows with a table that was made of all rows.
func TestWith(t *testing.T) {
	t.Parallel()
	b, modes, ids, codes, y := table(t, 3, func(s, at int) float64 { return float64(100*s + at) })
	more := [][]int32{{1, 2, 2}, {18, 17, 19}} // the second row is taken out
	target, sign := []float64{7, 217, 9}, func(i int) int { return []int{1, -1, 1}[i] }
	got := b.With(b.series.With(modes, ids, more, target, sign), more, target, sign)
	var all [][]int32
	all = append(all, append(slices.Clone(codes[0]), 1, 2), append(slices.Clone(codes[1]), 18, 19))
	values := append(slices.Clone(y), 7, 9)
	for i := range values {
		if all[0][i] == 2 && all[1][i] == 17 {
			all[0], all[1], values = slices.Delete(all[0], i, i+1), slices.Delete(all[1], i, i+1), slices.Delete(values, i, i+1)
			break
		}
	}
	p := panel.New(nil, 1, modes, ids, -1, panel.Rows{Codes: all, Target: func(i int) float64 { return values[i] }})
	want := New(1, p, all, func(i int) float64 { return values[i] }, []int32{12}, false)
	own := func(t *Table, s int) ([]int32, []float32) {
		return t.step[t.start[s]:t.start[s+1]], t.value[t.start[s]:t.start[s+1]]
	}
	for s := range 3 {
		of := want
		if s == 0 {
			of = b // without a new row it keeps its values
		}
		steps, values := own(got, s)
		wantSteps, wantValues := own(of, s)
		if s == 1 {
			wantSteps, wantValues = append([]int32{7}, wantSteps...), append([]float32{107}, wantValues...) // its window ends a month before that of series 2
		}
		if !slices.Equal(steps, wantSteps) || !slices.Equal(values, wantValues) {
			t.Errorf("series %d: got %v %v, want %v %v", s, steps, values, wantSteps, wantValues)
		}
	}
	if (*Table)(nil).With(p, more, target, sign) != nil {
		t.Error("got a table from none")
	}
}
