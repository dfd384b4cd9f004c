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
