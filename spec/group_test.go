package spec

import (
	"reflect"
	"strings"
	"testing"
)

func TestCutGroup(t *testing.T) {
	t.Parallel()
	modes := []string{"a", "a.b", "item", "a.b.c"}
	for name, want := range map[string]struct {
		mode   int
		column string
	}{
		"item":        {2, ""},
		"item.vendor": {2, "vendor"},
		"item.a.b":    {2, "a.b"},
		"a.b":         {1, ""},  // a mode of that name has precedence
		"a.b.d":       {1, "d"}, // the longest name of a mode
		"a.c":         {0, "c"},
		"a.b.c":       {3, ""},
		"itm.vendor":  {-1, ""},
		"item.":       {-1, ""},
		"ite":         {-1, ""},
	} {
		if mode, column := CutGroup(name, modes); mode != want.mode || column != want.column {
			t.Errorf("%s: got mode %d and column %q, want %d and %q", name, mode, column, want.mode, want.column)
		}
	}
}

func TestGroupTerms(t *testing.T) {
	t.Parallel()
	modes := []string{"store", "item", "time"}
	for text, want := range map[string]string{
		"item.vendor*store*time":   "item.vendor*store*time",
		" store.city , item : 5 ":  "store.city,item:5",
		"store.city,item:5@plain":  "store.city,item:5@plain",
		"item.vendor name*time":    "item.vendor name*time",
		"item,item.vendor,store:2": "item,item.vendor,store:2",
		"item.a.b":                 "item.a.b",
	} {
		term, err := ParseTerm(text, modes)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		again, err := ParseTerm(term.String(), modes)
		if term.String() != want || err != nil || !reflect.DeepEqual(again, term) {
			t.Errorf("%s: got %s, and %v, %v when parsed again; want %s", text, term, again, err, want)
		}
	}
	for text, want := range map[string]string{
		"itm.vendor*time":         `unknown mode "itm.vendor" (did you mean "item.vendor"?)`,
		"shelf.row*time":          `unknown mode "shelf.row" (known: store, item, time)`,
		"item*item.vendor":        "item.vendor follows from item in the core item*item.vendor",
		"item.vendor*item.vendor": `mode "item.vendor" appears twice`,
	} {
		if _, err := ParseTerm(text, modes); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %s", text, err, want)
		}
	}
}

// groupSpec returns a filled specification with one term and one side table, "" for none.
func groupSpec(term, table string) Spec {
	s := Spec{Data: Data{Target: "units", Modes: []string{"store", "item", "time=year+month"}}, Terms: []string{term}}
	if table != "" {
		s.Side.Tables = []string{table}
	}
	s.Fill()
	return s
}

func TestGroupTables(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		term, table string
		problem     string // "" if valid
		variant     string
	}{
		{"item.vendor*time", "item=items.csv:vendor:group", "", "plain"},
		{"item.vendor*time", "item=items.csv:vendor:group,price", "", "wlr"},
		{"item.vendor*time", "item=items.csv", "", "wlr"},
		{"item*time.month", "", "", "plain"}, // computed from the ids
		{"item*time.month", "time=@year", "", "wlr"},
		{"item.vendor*time", "", "item.vendor: mode item has no side table with a column vendor; set side.tables, such as item=FILE:vendor:group", "plain"},
		{"item.vendor*time", "store=stores.csv:city:group", "mode item has no side table", "plain"},
		{"item*time.rain", "time=@year", "time.rain: the side information of time is computed from its ids, and rain cannot be", "wlr"},
	} {
		s := groupSpec(test.term, test.table)
		if s.Side.Variant != test.variant {
			t.Errorf("%s with %q: got variant %s, want %s", test.term, test.table, s.Side.Variant, test.variant)
		}
		switch err := s.Validate(); {
		case err == nil && test.problem != "", err != nil && test.problem == "":
			t.Errorf("%s with %q: got error %v, want %q", test.term, test.table, err, test.problem)
		case err != nil && (!strings.Contains(err.Error(), test.problem) || !strings.Contains(err.Error(), "terms[0]")):
			t.Errorf("%s with %q: got error %v, want terms[0] and %s", test.term, test.table, err, test.problem)
		}
	}
	s := groupSpec("item.vendor*time", "item=items.csv:vendor:group")
	s.Side.Variant = "wlr"
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "wlr requires side information") {
		t.Errorf("wlr with a table of groups only: got error %v, want that side information is missing", err)
	}
	s = groupSpec("item.vendor*time", "item=items.csv:vendor:group")
	s.Terms = append(s.Terms, "store*item.vendor", "item.brand,store.city:2", "item.x*item") // the last is invalid
	if got, want := s.Groups(), []Group{{"item", "vendor"}, {"item", "brand"}, {"store", "city"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got groups %v, want %v", got, want)
	}
}
