package ledger

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/modelfile"
)

func example() *Ledger {
	return &Ledger{Noise: 0.5, Weight: 2, Cold: "item", Relations: []Relation{{0, 1, []float32{0.5, -1}}}, Curves: Curves{[][2]int{{1, 0}}, []float32{2, -1, 1}}, PerID: []Relation{{2, 0, []float32{0, 1, 2}}},
		Rows: Rows{Codes: [][]int32{{0, 1}, {2, 0}}, Y: []float64{1, 1e300}, W: []float32{1, 3}, Censored: []float32{0, 1}, Removed: []uint8{0, 1}}}
}

var shape = Shape{Sizes: []int{2, 3}, Relations: func(term, core int) (int, bool) { return 2, term == 0 && core == 1 }, Curve: func(term, core int) (int, bool) { return 2, term == 1 },
	PerID: func(term, core int) (int, bool) { return 3, term == 2 }}

func TestFile(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]*Ledger{"all": example(), "no rows": {Noise: 1, Weight: 1}} {
		meta, tensors := l.File()
		got, err := Read(&modelfile.File{Tensors: tensors}, meta, shape)
		if err != nil || !reflect.DeepEqual(got, l) {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, l)
		}
	}
	for _, c := range []struct {
		want   string
		change func(l *Ledger)
	}{
		{"the noise 0", func(l *Ledger) { l.Noise = 0 }},
		{"the weight +Inf", func(l *Ledger) { l.Weight = math.Inf(1) }},
		{"statistics of core 0 of term 7", func(l *Ledger) { l.Relations[0] = Relation{Term: 7} }},
		{"is 1.5", func(l *Ledger) { l.Relations[0].Values[0] = 1.5 }},
		{"relation/0", func(l *Ledger) { l.Relations[0].Values = []float32{0} }},
		{"a curve of core 0 of term 0", func(l *Ledger) { l.Curves.Cores[0][0] = 0 }},
		{"have the precision -2, and at most", func(l *Ledger) { l.Curves.Values[1] = -2 }},
		{"have the precision -1, and at most", func(l *Ledger) { l.Curves.Values[2] = -1 }},
		{"curves per id of core 0 of term 1", func(l *Ledger) { l.PerID[0].Term = 1 }},
		{"a precision of core 0 of term 2 is -1", func(l *Ledger) { l.PerID[0].Values[0] = -1 }},
		{"update/per_id/0", func(l *Ledger) { l.PerID[0].Values = l.PerID[0].Values[:1] }},
		{"update/curves", func(l *Ledger) { l.Curves.Values = l.Curves.Values[:2] }},
		{"an id that does not exist", func(l *Ledger) { l.Rows.Codes[1][0] = 3 }},
		{"an id that does not exist", func(l *Ledger) { l.Rows.Codes[0][1] = -1 }},
		{"the weight 0", func(l *Ledger) { l.Rows.W[1] = 0 }},
	} {
		l := example()
		c.change(l)
		meta, tensors := l.File()
		if _, err := Read(&modelfile.File{Tensors: tensors}, meta, shape); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want %q", err, c.want)
		}
	}
	meta, tensors := example().File()
	meta.Rows = 1 << 40
	if _, err := Read(&modelfile.File{Tensors: tensors}, meta, shape); err == nil {
		t.Error("got no error for more rows than there are")
	}
	meta.Rows = -1
	if _, err := Read(&modelfile.File{Tensors: tensors}, meta, shape); err == nil {
		t.Error("got no error for a negative number of rows")
	}
}

func TestAppend(t *testing.T) {
	t.Parallel()
	l := example()
	all := l.Rows.Append(Rows{Codes: [][]int32{{1}, {1}}, Y: []float64{5}, Exposure: []float32{2}})
	want := Rows{Codes: [][]int32{{0, 1, 1}, {2, 0, 1}}, Y: []float64{1, 1e300, 5}, W: []float32{1, 3, 1}, Exposure: []float32{1, 1, 2}, Censored: []float32{0, 1, 0}, Removed: []uint8{0, 1, 0}}
	if !reflect.DeepEqual(all, want) {
		t.Errorf("got %+v, want %+v", all, want)
	}
	if got := all.Select([]int{2, 0}); !reflect.DeepEqual(got.Y, []float64{5, 1}) || !reflect.DeepEqual(got.Codes, [][]int32{{1, 0}, {1, 2}}) || got.Sign(1) != 1 || all.Sign(1) != -1 {
		t.Errorf("got %+v", got)
	}
	clipped := all.Clip()
	first, second := clipped.Append(Rows{Codes: [][]int32{{0}, {0}}, Y: []float64{6}}), clipped.Append(Rows{Codes: [][]int32{{0}, {0}}, Y: []float64{7}})
	if first.Y[3] != 6 || second.Y[3] != 7 {
		t.Errorf("got %v and %v: two appends share memory", first.Y, second.Y)
	}
}
