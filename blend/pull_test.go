package blend

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// withFirst returns the table of the test with what formulas need.
func withFirst(t *testing.T, n int, value func(s, t int) float64) *Table {
	t.Helper()
	b, _, _, codes, y := table(t, n, value)
	return New(2, b.series, codes, func(i int) float64 { return y[i] }, []int32{12, 100}, true)
}

func identityScale(t *testing.T) targetscale.Transform {
	t.Helper()
	scale, err := targetscale.ParseTransform("identity")
	if err != nil {
		t.Fatal(err)
	}
	return scale
}

func TestPulled(t *testing.T) {
	t.Parallel()
	b := withFirst(t, 3, func(s, at int) float64 { return float64(100*s + 2*at) }).WithPull(&Pull{shares: []float64{0.5, 0.25, 0.25}, rise: 3, reach: 2})
	row := [][]int32{{0, 1, 9}, {18, 18, 18}}
	for _, c := range []struct {
		row     int
		horizon int32
		want    float64
	}{
		{1, 1, 0.5*134 + 0.25*136 + 0.25*112 - 100 + 6},  // month 17, its line, month 6
		{1, 3, 0.5*134 + 0.25*140 + 0.25*116 - 100 + 12}, // rises as far as was seen
		{0, 2, 0.75*-100 + 0.5*34 + 0.25*38 + 12},        // month 7 is missing
		{2, 1, 0}, // not a known series
		{1, 0, 0}, // no forecast
	} {
		if got := b.Move(identityScale(t), 100, row, c.row, c.horizon); math.Abs(got-c.want) > 1e-5 {
			t.Errorf("row %d, %d ahead: got %g, want %g", c.row, c.horizon, got, c.want)
		}
	}
	if got, want := strings.Join(b.Pulls(), ", "), "0.5 last value, 0.25 line from the first to the last value, 0.25 value 12 months before, 3 usual changes per month"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if (*Table)(nil).Pulls() != nil {
		t.Error("got pulls of no table")
	}
}

// TestLearnPull checks that shares follow the formula that is right, if several origins
// agree, and that a model which is right is left alone.
func TestLearnPull(t *testing.T) {
	t.Parallel()
	const series = 20
	rng := rand.New(rand.NewPCG(5, 6))
	slope := make([]float64, series)
	for s := range slope {
		slope[s] = 5 * rng.NormFloat64()
	}
	b := withFirst(t, series, func(s, at int) float64 { return float64(5*s) + slope[s]*float64(at) })
	origin := func(location func(line float64, k, s int) float64) (all []Origin) {
		for k := range 3 {
			rows := Rows{Codes: make([][]int32, 2)}
			for s := range series {
				for h := range int32(3) {
					line := float64(5*s) + slope[s]*float64(18+h)
					rows.Codes[0], rows.Codes[1] = append(rows.Codes[0], int32(s)), append(rows.Codes[1], 18+h)
					rows.Horizon = append(rows.Horizon, 1+h)
					rows.Location = append(rows.Location, location(line, k, s))
					rows.Mean = append(rows.Mean, rows.Location[len(rows.Location)-1])
					rows.Y = append(rows.Y, line+0.1*rng.NormFloat64())
				}
			}
			all = append(all, Origin{b, identityScale(t), rows})
		}
		return all
	}
	off := func(line float64, k, s int) float64 { return line + 10*rng.NormFloat64() }
	got := LearnPull(2, origin(off))
	if got == nil || len(got.shares) != 4 || got.shares[1]+got.shares[3] < 0.7 { // a season plus drift is on the line too
		t.Errorf("got the shares %v of a model that is off, want most for the line", got)
	}
	if got := LearnPull(2, origin(func(line float64, k, s int) float64 { return line })); got != nil {
		t.Errorf("got the shares %v beside a model that is right, want none", got)
	}
	behind := origin(func(line float64, k, s int) float64 { return line })
	for _, o := range behind {
		for i, h := range o.Rows.Horizon {
			o.Rows.Location[i] -= 2 * float64(h)
		}
	}
	got = LearnPull(2, behind)
	if got == nil || !(got.rise > 0) || got.reach != 3 {
		t.Fatalf("got %+v of a model that falls behind by 2 a period, want a rise", got)
	}
	last := &behind[0].Rows
	if by := b.WithPull(got).Move(identityScale(t), last.Location[2], last.Codes, 2, 3); math.Abs(by-6) > 0.5 {
		t.Errorf("the third period moves by %g, want 6", by)
	}
	if got := LearnPull(2, origin(off)[:1]); got != nil {
		t.Errorf("got the shares %v from one origin, want none", got)
	}
	if got := LearnPull(2, []Origin{{b, identityScale(t), Rows{}}, {b, identityScale(t), Rows{}}}); got != nil {
		t.Errorf("got the shares %v from no rows, want none", got)
	}
}

func TestPullFile(t *testing.T) {
	t.Parallel()
	b := withFirst(t, 3, func(s, at int) float64 { return float64(100*s + at) }).WithPull(&Pull{shares: []float64{0.5, 0.25, 0.25}, rise: 3, reach: 2})
	b.edges = []float64{}
	got, err := Read(&modelfile.File{Tensors: b.Tensors()}, b.series)
	if err != nil || !reflect.DeepEqual(got, b) {
		t.Fatalf("got %+v, %v, want %+v", got, err, b)
	}
	for want, change := range map[string]func(t *Table){
		"formulas add up": func(t *Table) { t.pull.shares[0] = 0.9 },
		"of a formula is": func(t *Table) { t.pull.shares[0] = -0.1 },
		"rise by":         func(t *Table) { t.pull.rise = math.Inf(1) },
		"a horizon is":    func(t *Table) { t.pull.reach = -1 },
		"first value":     func(t *Table) { t.first[1].value = float32(math.Inf(1)) },
		"shape":           func(t *Table) { t.first = t.first[:2] },
		"401 steps":       func(t *Table) { t.seasons[0] = 401 },
	} {
		bad := *b
		pull := Pull{slices.Clone(b.pull.shares), b.pull.rise, b.pull.reach}
		bad.pull, bad.first, bad.seasons = &pull, slices.Clone(b.first), slices.Clone(b.seasons)
		change(&bad)
		if _, err := Read(&modelfile.File{Tensors: bad.Tensors()}, b.series); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestPullWith checks that further rows keep the first values, and begin new series.
func TestPullWith(t *testing.T) {
	t.Parallel()
	_, modes, ids, _, _ := table(t, 3, func(s, at int) float64 { return float64(100*s + at) })
	b := withFirst(t, 3, func(s, at int) float64 { return float64(100*s + at) }).WithPull(&Pull{shares: []float64{0, 1, 0}})
	more, target, sign := [][]int32{{1}, {18}}, []float64{136}, func(int) int { return 1 }
	got := b.With(b.series.With(modes, ids, more, target, sign), more, target, sign)
	// From 100 in month 0 to 136 in month 18: 2 a month.
	if by := got.Move(identityScale(t), 0, [][]int32{{1}, {19}}, 0, 1); math.Abs(by-138) > 1e-5 {
		t.Errorf("got %g, want 138", by)
	}
	if changed := b.WithSharesOf(got); changed == nil || !reflect.DeepEqual(changed.pull, b.pull) {
		t.Errorf("got %+v", changed)
	}
	if b.WithSharesOf(&Table{seasons: b.seasons}) != nil {
		t.Error("got shares of a table without formulas")
	}
}
