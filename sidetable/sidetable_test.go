package sidetable_test

import (
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/sidetable"
)

func plain(string) func(string) string { return strings.ToLower }

func table() *sidetable.Table {
	frame := dataset.NewFrame([]string{"price", "vendor"}, []string{"3.5", "", "3.5"}, []string{"a", "b", "c"})
	return sidetable.New(frame, []string{"price", "vendor"}, plain)
}

func TestValues(t *testing.T) {
	t.Parallel()
	first := table()
	added := first.With(5, []int32{-1, 4}, dataset.NewFrame([]string{"vendor"}, []string{"x", "D"}), plain)
	for _, c := range []struct {
		table  *sidetable.Table
		column string
		code   int32
		want   string
	}{
		{first, "price", 0, "3.5"}, {first, "price", 1, ""}, {first, "price", 2, "3.5"}, {first, "price", 3, ""}, {first, "price", -1, ""},
		{first, "vendor", 2, "c"}, {first, "vendor", 4, ""},
		{added, "vendor", 4, "d"}, {added, "vendor", 3, ""}, {added, "price", 4, ""}, {added, "vendor", 0, "a"},
	} {
		if got := c.table.Column(c.column).Value(c.code); got != c.want {
			t.Errorf("%s of code %d: got %q, want %q", c.column, c.code, got, c.want)
		}
	}
	if frame := added.Frame([]int32{4, -1}); frame.Columns[1][0] != "d" || frame.Columns[1][1] != "" || frame.Len() != 2 {
		t.Errorf("got frame %+v", frame)
	}
	if len(first.Columns[1].Levels) != 3 {
		t.Error("With changed the table that it was given")
	}
	if err := added.Check(5); err != nil {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*sidetable.Table){
		"3 values for 3 ids": nil,
		"2 values for 3 ids": func(t *sidetable.Table) { t.Columns[0].Of = t.Columns[0].Of[:2] },
		"value 9":            func(t *sidetable.Table) { t.Columns[1].Of[0] = 9 },
		"value -2":           func(t *sidetable.Table) { t.Columns[1].Of[0] = -2 },
	} {
		x := table()
		if change == nil {
			if err := x.Check(3); err != nil {
				t.Errorf("a sound table: %v", err)
			}
			continue
		}
		change(x)
		if err := x.Check(3); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got error %v, want one with %q", err, name)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	if got := table().With(1<<22, nil, nil, plain); got != nil {
		t.Error("a table of more fields than a model keeps is kept")
	}
	long := dataset.NewFrame([]string{"text"}, []string{strings.Repeat("x", 1<<25+1)})
	if got := sidetable.New(long, []string{"text"}, plain); got != nil {
		t.Error("a table of more text than a model keeps is kept")
	}
	var none *sidetable.Table
	if none.With(3, nil, nil, plain) != nil || none.Column("price") != nil || none.Names() != nil {
		t.Error("a nil table has values")
	}
}
