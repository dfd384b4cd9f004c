package split

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
)

// endsOf returns the ends of series given as "first-last" steps, written by name.
func endsOf(t *testing.T, name func(step int) string, series ...[2]int) (*dataset.Table, *Ends) {
	t.Helper()
	var text strings.Builder
	text.WriteString("id,time,y\n")
	for i, s := range series {
		for step := s[0]; step <= s[1]; step++ {
			fmt.Fprintf(&text, "s%d,%s,1\n", i, name(step))
		}
	}
	table := tableOf(t, text.String(), dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id,time")})
	ends, err := FindEnds(table, 1, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	return table, ends
}

func number(step int) string { return fmt.Sprint(step) }

func month(step int) string { return fmt.Sprintf("%d-%02d", 1980+step/12, step%12+1) }

func TestDiffer(t *testing.T) {
	t.Parallel()
	var single [][2]int
	for step := range 60 {
		single = append(single, [2]int{step, step})
	}
	for _, c := range []struct {
		what   string
		name   func(step int) string
		series [][2]int
		want   string
	}{
		{"numbers from 1 on, different lengths", number, [][2]int{{1, 20}, {1, 30}, {1, 25}, {1, 30}}, "2 of 4 series end"},
		{"weeks from 1 on", func(step int) string { return fmt.Sprintf("%02d", step) }, [][2]int{{1, 20}, {1, 30}, {1, 25}, {1, 30}}, "2 of 4 series end"},
		{"numbers, all to the end", number, [][2]int{{1, 30}, {1, 30}, {1, 30}}, ""},
		{"numbers that begin later as well: a common calendar", number, [][2]int{{1, 20}, {5, 30}, {1, 25}}, ""},
		{"one of many stopped", number, [][2]int{{1, 20}, {1, 30}, {1, 30}, {1, 30}, {1, 30}, {1, 30}}, ""},
		{"months of different years", month, [][2]int{{0, 40}, {100, 160}, {30, 80}, {300, 350}}, "3 of 4 series end"},
		{"months, most up to the end", month, [][2]int{{0, 40}, {0, 60}, {10, 60}}, ""},
		{"single rows, such as ratings", month, single, ""},
		{"a single series", number, [][2]int{{1, 20}}, ""},
	} {
		_, ends := endsOf(t, c.name, c.series...)
		if got := ends.Differ(); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", c.what, got, c.want)
		}
	}
}

func TestApplyEnds(t *testing.T) {
	t.Parallel()
	table, ends := endsOf(t, number, [2]int{1, 10}, [2]int{1, 7}, [2]int{1, 4}) // the last is too short
	spec, err := Parse("time:last=2")
	if err != nil {
		t.Fatal(err)
	}
	got, err := spec.ApplyEnds(ends, 1)
	if err != nil {
		t.Fatal(err)
	}
	var want []dataset.Part
	for _, n := range []int{10, 7, 4} {
		for left := n - 1; left >= 0; left-- {
			part := dataset.Train
			switch {
			case n == 4:
			case left < 2:
				part = dataset.Test
			case left < 4:
				part = dataset.Valid
			}
			want = append(want, part)
		}
	}
	if !slices.Equal(got.Parts, want) || !ends.Later(got.Parts) || got.Spec != "time:last=2" || got.Periods[dataset.Test] != "the last 2 periods of each series" {
		t.Errorf("got %v, %+v", got.Parts, got)
	}
	if ends.Step(9) != ends.Step(16) || ends.Step(0) != 0 {
		t.Errorf("the last rows have the steps %d and %d", ends.Step(9), ends.Step(16))
	}
	if random := apply(t, table, "random:60/20/20", 1); ends.Later(random.Parts) {
		t.Error("a random split counts as one by time")
	}
}
