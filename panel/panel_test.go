package panel

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/modelfile"
)

// sales returns modes with their ids, and rows: store b sells every month, store a twice.
func sales(t *testing.T) (modes []dataset.Mode, ids func(int) []string, codes [][]int32, target func(int) float64) {
	t.Helper()
	modes, err := dataset.ParseModes("store,item,time=year+month,season=month")
	if err != nil {
		t.Fatal(err)
	}
	all := [][]string{{"b", "a"}, {"x", "y"}, {"2016-11", "2016-9", "2016-10", "2016-12"}, {"11", "9", "10", "12"}}
	codes = [][]int32{{0, 0, 0, 1, 1}, {0, 0, 0, 1, 1}, {0, 1, 2, 1, 2}, {0, 1, 2, 1, 2}}
	y := []float64{1, 2, 6, 4, 8}
	return modes, func(m int) []string { return all[m] }, codes, func(i int) float64 { return y[i] }
}

func TestNew(t *testing.T) {
	t.Parallel()
	modes, ids, codes, target := sales(t)
	p := New(nil, 2, modes, ids, -1, Rows{Codes: codes, Target: target})
	if p == nil || p.Time != 2 || !reflect.DeepEqual(p.Keys, []int{0, 1}) {
		t.Fatalf("got %+v", p)
	}
	if !reflect.DeepEqual(p.Codes, [][]int32{{0, 1}, {0, 1}}) || !reflect.DeepEqual(p.First, []int32{0, 0}) || !reflect.DeepEqual(p.Last, []int32{2, 1}) ||
		!reflect.DeepEqual(p.Rows, []int32{3, 2}) || !reflect.DeepEqual(p.Mean, []float32{3, 6}) || p.End != 2 {
		t.Errorf("got %+v", p)
	}
	for id, want := range map[string]int32{"2016-12": 1, "2017-3": 4, "2016-11": 0, "2015-1": 0, "x": 0} {
		if got := p.Horizon(id, codes, 0); got != want {
			t.Errorf("%s: got the horizon %d, want %d", id, got, want)
		}
	}
	if got := p.HorizonOf([][]int32{{0}, {0}, {3}}, 0); got != 1 {
		t.Errorf("got the horizon %d of December, want 1", got)
	}
	codes[0] = []int32{0, 1, 0, 1, 0}
	codes[1] = []int32{0, 1, 1, 0, 1}
	if p := New(nil, 2, modes, ids, -1, Rows{Codes: codes, Target: target}); p != nil {
		t.Errorf("got %d series of 5 rows, want none", p.Len())
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	modes, ids, codes, target := sales(t)
	p := New(nil, 2, modes, ids, -1, Rows{Codes: codes, Target: target})
	read := func(tensors []modelfile.Tensor) (*Panel, error) {
		return Read(&modelfile.File{Tensors: tensors}, modes, ids, -1)
	}
	got, err := read(p.Tensors())
	if err != nil || !reflect.DeepEqual(got.Tensors(), p.Tensors()) || got.End != p.End {
		t.Fatalf("got %+v, %v, want %+v", got, err, p)
	}
	if got, err := read((*Panel)(nil).Tensors()); got != nil || err != nil {
		t.Errorf("got %v, %v without series", got, err)
	}
	for _, c := range []struct {
		want   string
		change func(p *Panel)
	}{
		{"has the code 7", func(p *Panel) { p.Codes[0][1] = 7 }},
		{"has the code -1", func(p *Panel) { p.Codes[1][0] = -1 }},
		{"not after the one before", func(p *Panel) { p.Codes[0][1], p.Codes[1][1] = 0, 0 }},
		{"from step 2 to 1", func(p *Panel) { p.First[1] = 2 }},
		{"to 9 of 3", func(p *Panel) { p.Last[1] = 9 }},
		{"has 0 rows", func(p *Panel) { p.Rows[0] = 0 }},
	} {
		bad := New(nil, 2, modes, ids, -1, Rows{Codes: codes, Target: target})
		c.change(bad)
		if _, err := read(bad.Tensors()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want %q", err, c.want)
		}
	}
	if _, err := read(p.Tensors()[1:]); err == nil {
		t.Error("got no error for a missing tensor")
	}
}

func TestWith(t *testing.T) {
	t.Parallel()
	modes, ids, codes, target := sales(t)
	p := New(nil, 1, modes, ids, -1, Rows{Codes: codes, Target: target})
	all := [][]string{{"b", "a", "c"}, {"x", "y"}, append(slices.Clone(ids(2)), "2016-8", "2017-1"), append(slices.Clone(ids(3)), "8", "1")}
	// b,x in January, a new series c,x in August, and the row of a,y in October removed.
	added := [][]int32{{0, 2, 1}, {0, 0, 1}, {5, 4, 2}, {5, 4, 2}}
	got := p.With(modes, func(m int) []string { return all[m] }, added, []float64{7, 3, 8}, func(i int) int { return []int{1, 1, -1}[i] })
	if !reflect.DeepEqual(got.Codes, [][]int32{{0, 1, 2}, {0, 1, 0}}) || !reflect.DeepEqual(got.First, []int32{1, 1, 0}) || !reflect.DeepEqual(got.Last, []int32{5, 2, 0}) ||
		!reflect.DeepEqual(got.Rows, []int32{4, 1, 1}) || !reflect.DeepEqual(got.Mean, []float32{4, 4, 3}) || got.End != 5 {
		t.Errorf("got %+v", got)
	}
	if p.Rows[0] != 3 || p.End != 2 {
		t.Errorf("the panel itself changed: %+v", p)
	}
}

// A table whose only mode is the time is one series.
func TestOneSeries(t *testing.T) {
	t.Parallel()
	ids := []string{"2016-1", "2016-2", "2016-4"}
	p := New(nil, 2, []dataset.Mode{{Name: "time", Columns: []string{"month"}}}, func(int) []string { return ids }, -1, Rows{Codes: [][]int32{{1, 0, 2}}, Target: func(row int) float64 { return float64(row) }})
	if p == nil || len(p.Rows) != 1 || p.Rows[0] != 3 || p.Mean[0] != 1 || p.End != 3 {
		t.Errorf("got panel %+v, want one series of 3 rows with the mean 1 that ends at step 3", p)
	}
}

// The second series ends in October; with its own end that is where its forecasts begin.
func TestOwnEnds(t *testing.T) {
	t.Parallel()
	modes, ids, codes, target := sales(t)
	p := New(nil, 1, modes, ids, -1, Rows{Codes: codes, Target: target})
	rows := [][]int32{{0, 1, 0}, {0, 1, 1}, {3, 3, 3}} // the third has no series
	for own, want := range map[bool][3]int32{false: {1, 1, 1}, true: {1, 2, 1}} {
		p.Own = own
		for row, h := range want {
			if got := p.HorizonOf(rows, row); got != h {
				t.Errorf("own ends %v, row %d: got the horizon %d, want %d", own, row, got, h)
			}
			if got := p.Horizon("2016-12", rows, row); got != h {
				t.Errorf("own ends %v, row %d: got the horizon %d of the id, want %d", own, row, got, h)
			}
		}
	}
}
