package experiment

import (
	"slices"
	"strings"
	"testing"
)

// With splits: each, every split has its own search, after the cells of the split
// before.
func TestTuneEachSplit(t *testing.T) {
	setup(t)
	exp := load(t, strings.Replace(twoConfigurations, "trials: 3", "trials: 3, splits: each", 1))
	f := &fakeRunner{}
	if _, _, err := start(t, exp, f); err != nil {
		t.Fatal(err)
	}
	if want := []string{"split 1", "split 2", "tune tuned.1", "fit plain.1", "fit tuned.1", "tune tuned.2", "fit plain.2", "fit tuned.2"}; !slices.Equal(f.calls, want) {
		t.Errorf("got calls %q, want %q", f.calls, want)
	}
	r, err := Read(exp.Output)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Summarize(r, nil, "")
	if want := 2*5.0 + 2*2; err != nil || s.Rows[1].TotalSeconds != want {
		t.Errorf("got summary %+v, %v, want %v seconds in total", s, err, want)
	}
}

// Files that an earlier version of the experiment left do not count: splits that it no
// longer has, and searches that its cells do not depend on.
func TestFilesOfEarlierPlans(t *testing.T) {
	setup(t)
	each := strings.Replace(twoConfigurations, "trials: 3", "trials: 3, splits: each", 1)
	for _, c := range []struct {
		text    string
		seconds float64 // total of the tuned configuration
	}{
		{twoConfigurations, 5 + 2*2},
		{each, 2*5 + 2*2},
		{strings.Replace(each, "[4, 5]", "[4]", 1), 5 + 2},
		{strings.Replace(twoConfigurations, "tune: {trials: 3}, ", "", 1), 2 * 2},
	} {
		exp := load(t, c.text)
		if _, _, err := start(t, exp, &fakeRunner{}); err != nil {
			t.Fatal(err)
		}
		r, err := Read(exp.Output)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Summarize(r, nil, "")
		if n := len(exp.Splits); err != nil || s.Splits != n || s.Rows[0].N != n || s.Rows[1].TotalSeconds != c.seconds || s.Pairs[0].Difference.N != n {
			t.Errorf("%s\ngot summary %+v, %v, want %d splits and %v seconds in total", c.text, s, err, n, c.seconds)
		}
		if got, want := len(s.Extra) > 0, s.Splits == 1; got != want {
			t.Errorf("%s\ngot extra cells %q, want some: %v", c.text, s.Extra, want)
		}
	}
}
