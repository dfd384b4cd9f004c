package sideinfo

import (
	"testing"
)

func TestSpecFor(t *testing.T) {
	t.Parallel()
	e, _, _ := fitColumns(t, EncodeOptions{}, map[string][]string{"a:": {"1", "2"}, "b:": {"3", "3"}}, "a:", "b:")
	given, err := ParseSpec("store=new.csv[key=id]")
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.SpecFor(given)
	if err != nil || s.String() != "store=new.csv[key=id]:a:num" {
		t.Errorf("got %s, %v; want store=new.csv[key=id]:a:num", s, err)
	}
	if _, err := e.SpecFor(Spec{Mode: "store", Columns: []ColumnSpec{{"store", Num}}}); err == nil {
		t.Error("got no error for columns computed from ids in place of a table, want one")
	}
}
