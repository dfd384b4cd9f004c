package spec

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestParseTerm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, canonical string
		want            Term
	}{
		{"store,item,time:20", "store,item,time:20",
			Term{Cores: [][]string{{"store"}, {"item"}, {"time"}}, Ranks: []int{20, 20}}},
		{" store * item , time : 2 ", "store*item,time:2",
			Term{Cores: [][]string{{"store", "item"}, {"time"}}, Ranks: []int{2}}},
		{"a,b,c,d:5,8,5", "a,b,c,d:5,8,5",
			Term{Cores: [][]string{{"a"}, {"b"}, {"c"}, {"d"}}, Ranks: []int{5, 8, 5}}},
		{"a,b,c:4,4", "a,b,c:4", Term{Cores: [][]string{{"a"}, {"b"}, {"c"}}, Ranks: []int{4, 4}}},
		{"store", "store", Term{Cores: [][]string{{"store"}}}},
		{"store*item:1", "store*item", Term{Cores: [][]string{{"store", "item"}}}},
		{" item , along( time ):3", "item,along(time):3",
			Term{Cores: [][]string{{"item"}, {"time"}}, Ranks: []int{3}, Along: &Series{Time: "time", Walk: true, AR: true}}},
		{"along(hour(stamp); ar,season=24),a*b:2@plain", "along(hour(stamp); ar, season=24),a*b:2@plain",
			Term{Cores: [][]string{{"hour(stamp)"}, {"a", "b"}}, Ranks: []int{2}, Variant: "plain", Along: &Series{Time: "hour(stamp)", AR: true, Periods: []float64{24}}}},
		{"along(time; walk)", "along(time; walk)", Term{Cores: [][]string{{"time"}}, Along: &Series{Time: "time", Walk: true}}},
		{"hour(time stamp),x:3", "hour(time stamp),x:3",
			Term{Cores: [][]string{{"hour(time stamp)"}, {"x"}}, Ranks: []int{3}}},
	} {
		got, err := ParseTerm(c.text, nil)
		if err != nil {
			t.Errorf("ParseTerm(%q): %v", c.text, err)
			continue
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("ParseTerm(%q) = %#v, want %#v", c.text, got, c.want)
		}
		if got.String() != c.canonical {
			t.Errorf("ParseTerm(%q).String() = %q, want %q", c.text, got, c.canonical)
		}
	}
}

func TestParseTermErrors(t *testing.T) {
	t.Parallel()
	modes := []string{"store", "item", "time"}
	for _, c := range []struct{ text, want string }{
		{"", "empty"},
		{"  ", "empty"},
		{":5", "the name of a mode is missing"},
		{"store,,time:5", "the name of a mode is missing"},
		{"store*,time:5", "the name of a mode is missing"},
		{"stores,item:5", `unknown mode "stores" (did you mean "store"?)`},
		{"linear(price+age)", `unknown mode "linear(price+age)"; terms name modes: add linear(price+age) to data.covariates and write linear here`},
		{"warehouse,item:5", `unknown mode "warehouse" (known: store, item, time)`},
		{"store,item*store:5", `mode "store" appears twice`},
		{"store,item", "needs a rank after a colon, such as store,item:20"},
		{"store,item:", `rank ""`},
		{"store,item:0", `rank "0"`},
		{"store,item:-3", `rank "-3"`},
		{"store,item:2.5", `rank "2.5"`},
		{"store,item:10001", `rank "10001"`},
		{"store,item:99999999999999999999", "rank"},
		{"store,item:5:6", `rank "5:6"`},
		{"store:5", "write store without :5"},
		{"store:1,1", "is an effect"},
		{"store,item:5,5", "2 ranks for 2 cores"},
		{"store,along(times):5", `unknown mode of time "times" (did you mean "time"?)`},
		{"store,along(time:5", "write one core along time"},
		{"store,along(time)", "needs a rank after a colon"},
		{"store,along(time),item:5", "is the first or the last of its term"},
	} {
		got, err := ParseTerm(c.text, modes)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ParseTerm(%q) = %v, %v; want an error with %q", c.text, got, err, c.want)
		}
	}
}

func TestDefaultTerm(t *testing.T) {
	t.Parallel()
	if got := DefaultTerm([]string{"a", "b", "c"}, 7).String(); got != "a,b,c:7" {
		t.Errorf("three modes: got %q, want a,b,c:7", got)
	}
	if one := DefaultTerm([]string{"a"}, 7); len(one.Ranks) > 0 || one.String() != "a" {
		t.Errorf("one mode: got %q with ranks %v, want a without ranks", one, one.Ranks)
	}
}

func TestCapRanks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text    string
		sizes   []int
		want    string
		notices []string
	}{
		{"a,b,c:20", []int{1500, 4500, 24}, "a,b,c:20", nil},
		{"a,b,c:30", []int{1500, 4500, 24}, "a,b,c:30,24",
			[]string{"term a,b,c:30: the rank 30 between b and c is reduced to 24, the maximum that c allows"}},
		{"a,b,c,d:9", []int{2, 3, 5, 7}, "a,b,c,d:2,6,7", []string{"that a allows", "that a,b allows", "that d allows"}},
		{"a*b,c:5", []int{1, 8}, "a*b,c:1", []string{"that a*b allows"}},
		{"a,b,c,d,e:10000", []int{1 << 62, 1 << 62, 1 << 62, 1 << 62, 1 << 62}, "a,b,c,d,e:10000", nil},
		{"a", []int{3}, "a", nil},
	} {
		term, err := ParseTerm(c.text, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, notices := term.CapRanks(c.sizes)
		if got.String() != c.want || len(notices) != len(c.notices) {
			t.Errorf("%s with sizes %v: got %s with %q, want %s with %q", c.text, c.sizes, got, notices, c.want, c.notices)
			continue
		}
		for i := range notices {
			if !strings.Contains(notices[i], c.notices[i]) {
				t.Errorf("%s: got notice %q, want %q", c.text, notices[i], c.notices[i])
			}
		}
		if term.String() != c.text {
			t.Errorf("CapRanks changed its receiver from %s to %s", c.text, term)
		}
	}
}

func TestCapRanksPanicsOnMisuse(t *testing.T) {
	t.Parallel()
	term := DefaultTerm([]string{"a", "b"}, 3)
	for name, sizes := range map[string][]int{"too few": {3}, "empty core": {3, 0}} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.HasPrefix(s, "spec: ") {
					t.Errorf("%s: got panic %q, want one of package spec", name, s)
				}
			}()
			term.CapRanks(sizes)
		}()
	}
}

func FuzzParseTerm(f *testing.F) {
	for _, s := range []string{"store,item,time:20", "store*item,time:2", "a,b,c,d:5,8,5", "store", "", "a,b:1:2", "é*b,\xff:3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		term, err := ParseTerm(s, nil)
		if err != nil {
			return
		}
		if len(term.Ranks) != len(term.Cores)-1 {
			t.Fatalf("%q: %d ranks for %d cores", s, len(term.Ranks), len(term.Cores))
		}
		again, err := ParseTerm(term.String(), slices.Concat(term.Cores...))
		if err != nil || !reflect.DeepEqual(again, term) {
			t.Fatalf("%q is parsed as %#v, whose text %q is parsed as %#v, %v", s, term, term, again, err)
		}
	})
}
