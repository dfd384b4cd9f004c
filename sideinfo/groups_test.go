package sideinfo

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// vendors joins a table of five items with the ids a to e, of which d has no row and e
// has no vendor; f is not in the data.
func vendors(t *testing.T, table string) *Joined {
	t.Helper()
	spec, err := ParseSpec(table)
	if err != nil {
		t.Fatal(err)
	}
	frame := dataset.NewFrame([]string{"item", "vendor", "brand"}, []string{"a", "b", "c", "e", "f"},
		[]string{"x", "y", "x", "NA", "z"}, []string{"1", "2", "3", "4", "5"})
	frame.File = "items.csv"
	j, err := Join(spec.WithGroups([]string{"vendor"}), dataset.Mode{Name: "item", Columns: []string{"item"}}, frame, []string{"a", "b", "c", "d", "e"})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestFitGroups(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"item=items.csv", "item=items.csv:brand", "item=items.csv:vendor:group"} {
		j := vendors(t, table)
		for _, test := range []struct {
			trained bool
			want    []int32
		}{{true, []int32{1, 2, 1, 0, 0}}, {false, []int32{1, 2, 1, NoGroup, 0}}} {
			g, reports, err := FitGroups(j, []string{"vendor"}, func(int) bool { return test.trained })
			if err != nil {
				t.Fatal(err)
			}
			c := g.Column("vendor")
			if want := []string{"", "x", "y"}; !reflect.DeepEqual(c.Levels, want) || !reflect.DeepEqual(c.Of, test.want) {
				t.Errorf("%s: got groups %v of %q, want %v of %q", table, c.Of, c.Levels, test.want, want)
			}
			if want := []GroupReport{{Column: "vendor", Levels: 3, Missing: 2}}; !reflect.DeepEqual(reports, want) {
				t.Errorf("%s: got report %+v, want %+v", table, reports, want)
			}
			if err := g.Check(5); err != nil {
				t.Error(err)
			}
			// A known level, a new level and a missing value; -1 is skipped.
			rows := dataset.NewFrame([]string{"vendor"}, []string{"y", "new", "", "x"})
			more, err := g.WithIDs(8, []int32{5, 6, 7, -1}, rows)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := more.Column("vendor").Of, append(test.want[:5:5], 2, NoGroup, 0); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got groups %v with further ids, want %v", table, got, want)
			}
			if len(c.Of) != 5 {
				t.Errorf("%s: WithIDs changed the groups that it was called on", table)
			}
		}
	}
}

// A table of groups only has no columns to encode, and groups are left out of the others.
func TestGroupsAreNotEncoded(t *testing.T) {
	t.Parallel()
	e, _, err := Fit(vendors(t, "item=items.csv:brand:num,vendor:group"), EncodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range e.Names() {
		if strings.HasPrefix(name, "vendor") {
			t.Errorf("got the feature %q, want none of the group vendor", name)
		}
	}
	for text, want := range map[string]bool{"item=f.csv:vendor:group": true, "item=f.csv": false, "item=f.csv:vendor:group,price": false, "time=@month:group": true} {
		spec, err := ParseSpec(text)
		if err != nil || spec.OnlyGroups() != want || spec.String() != text {
			t.Errorf("%s: got %s, groups only %v, %v; want %v", text, spec, spec.OnlyGroups(), err, want)
		}
	}
}

func TestGroupErrors(t *testing.T) {
	t.Parallel()
	const n = 6000
	ids, own, many, one := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	for i := range ids {
		ids[i], own[i], many[i], one[i] = fmt.Sprint("i", i), fmt.Sprint(i), fmt.Sprint(i%5500), "x"
	}
	frame := dataset.NewFrame([]string{"item", "price", "code", "kind"}, ids, own, many, one)
	j, err := Join(Spec{Mode: "item", File: "items.csv"}, dataset.Mode{Name: "item", Columns: []string{"item"}}, frame, ids)
	if err != nil {
		t.Fatal(err)
	}
	for column, want := range map[string]string{
		"price": "item.price has 6000 levels, and groups are limited to 5000",
		"code":  "item.code has 5500 levels",
		"kind":  "item.kind has the same value for every item",
		"prise": `did you mean "price"?`,
	} {
		if _, _, err := FitGroups(j, []string{column}, func(int) bool { return true }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %s", column, err, want)
		}
	}
	if _, _, err := FitGroups(vendors(t, "item=items.csv"), []string{"brand"}, func(int) bool { return true }); err == nil || !strings.Contains(err.Error(), "item.brand has another value for every item") {
		t.Errorf("got error %v, want that every item has its own value", err)
	}
	g := &Groups{Columns: []GroupColumn{{Name: "vendor", Levels: []string{"a", "b"}, Of: []int32{0, 1}}}}
	for name, damage := range map[string]func(c *GroupColumn){
		"not sorted":   func(c *GroupColumn) { c.Levels = []string{"b", "a"} },
		"out of range": func(c *GroupColumn) { c.Of = []int32{0, 2} },
		"too few":      func(c *GroupColumn) { c.Of = []int32{0} },
	} {
		damaged := &Groups{Columns: []GroupColumn{g.Columns[0]}}
		damage(&damaged.Columns[0])
		if damaged.Check(2) == nil {
			t.Errorf("%s: got no error, want one", name)
		}
	}
	if err := g.Check(2); err != nil {
		t.Error(err)
	}
}

// TestGroupsOfSpelledMonths checks that the month of a new id belongs to its group also if it is
// written with a leading zero and those of the fit were not, or the other way round.
func TestGroupsOfSpelledMonths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ ids, more []string }{
		{[]string{"2015-2", "2015-10", "2016-2", "2016-10"}, []string{"2017-02", "2017-2", "2017-10"}},
		{[]string{"2015-02", "2015-10", "2016-02", "2016-10"}, []string{"2017-2", "2017-02", "2017-10"}},
	} {
		mode := dataset.Mode{Name: "time", Columns: []string{"year", "month"}}
		spec := Spec{Mode: "time", Columns: []ColumnSpec{{Name: "month", Type: Group}}}
		j, err := JoinIDColumns(spec, mode, c.ids)
		if err != nil {
			t.Fatal(err)
		}
		g, _, err := FitGroups(j, []string{"month"}, func(int) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		more, err := JoinIDColumns(spec, mode, c.more)
		if err != nil {
			t.Fatal(err)
		}
		all, err := g.WithIDs(7, []int32{4, 5, 6}, more.Rows)
		if err != nil {
			t.Fatal(err)
		}
		of := all.Column("month").Of
		if want := []int32{of[0], of[0], of[1]}; !reflect.DeepEqual(of[4:], want) {
			t.Errorf("%v: got groups %v of %v, want %v", c.ids, of[4:], c.more, want)
		}
	}
}
