package sideinfo

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
)

func TestCategories(t *testing.T) {
	t.Parallel()
	values := slices.Concat(slices.Repeat([]string{"b"}, 6), slices.Repeat([]string{"a"}, 5), []string{"rare", "rarer", ""})
	e, f, r := fitColumns(t, EncodeOptions{}, map[string][]string{"city:cat": values}, "city:cat")
	if want := []string{"city=a", "city=b", "city other", "city missing"}; !slices.Equal(f.Names, want) {
		t.Fatalf("got names %q, want %q", f.Names, want)
	}
	for i, want := range map[int][]float32{0: {0, 1, 0, 0}, 6: {1, 0, 0, 0}, 11: {0, 0, 1, 0}, 12: {0, 0, 1, 0}, 13: {0, 0, 0, 1}} {
		if !slices.Equal(f.Row(i), want) {
			t.Errorf("row %d: got %v, want %v", i, f.Row(i), want)
		}
	}
	if c := r.Columns[0]; c.Levels != 4 || c.Pooled != 2 || c.Missing != 1 || c.Hashed != 0 {
		t.Errorf("got report %+v, want 4 levels, 2 pooled, 1 missing, 0 hashed", c)
	}
	g, err := e.Encode(dataset.NewFrame([]string{"x", "city"}, []string{"", ""}, []string{"new", "a"}))
	if err != nil || !slices.Equal(g.Row(0), []float32{0, 0, 1, 0}) || !slices.Equal(g.Row(1), []float32{1, 0, 0, 0}) {
		t.Errorf("got new rows %v, %v; want 0 0 1 0 and 1 0 0 0", g.X, err)
	}
	// Without rare levels there is no column for new levels.
	e, f, _ = fitColumns(t, EncodeOptions{}, map[string][]string{"city:cat": values[:11]}, "city:cat")
	g, err = e.Encode(dataset.NewFrame([]string{"city"}, []string{"new"}))
	if err != nil || f.C != 2 || !slices.Equal(g.X, []float32{0, 0}) {
		t.Errorf("columns %q: got new row %v, %v; want 0 0", f.Names, g.X, err)
	}
	// A single level that is present or missing is one column.
	if _, f, _ = fitColumns(t, EncodeOptions{}, map[string][]string{"open:cat": append(slices.Repeat([]string{"yes"}, 5), "")}, "open:cat"); f.C != 1 {
		t.Errorf("got names %q, want one", f.Names)
	}
}

func TestHashedLevels(t *testing.T) {
	t.Parallel()
	var values []string
	for level := range 40 {
		for range 5 + 40 - level {
			values = append(values, fmt.Sprintf("L%02d", level))
		}
	}
	values = append(values, "rare")
	e, f, r := fitColumns(t, EncodeOptions{MostLevels: 16}, map[string][]string{"sku:cat": values}, "sku:cat")
	if f.C != 17 || f.Names[0] != "sku=L00" || f.Names[11] != "sku=L11" || f.Names[12] != "sku #1" || f.Names[16] != "sku other" {
		t.Fatalf("got names %q, want 12 levels, 4 buckets and other", f.Names)
	}
	if c := r.Columns[0]; c.Levels != 41 || c.Hashed != 28 || c.Pooled != 1 || c.Columns != 17 {
		t.Errorf("got report %+v, want 41 levels, 28 hashed, 1 pooled, 17 columns", c)
	}
	used := map[int]bool{}
	for i := range f.N {
		sum := float32(0)
		for c, v := range f.Row(i) {
			sum += v
			if v != 0 && c >= 12 && c < 16 {
				used[c] = true
			}
		}
		if sum != 1 {
			t.Fatalf("row %d: got %v, want a sum of 1", i, f.Row(i))
		}
	}
	if len(used) < 3 {
		t.Errorf("28 hashed levels: got %d of 4 columns in use, want at least 3", len(used))
	}
	g, err := e.Encode(dataset.NewFrame([]string{"sku"}, []string{"never seen"}))
	if err != nil || g.X[16] != 1 {
		t.Errorf("new level: got %v, %v; want 1 in the last column", g.X, err)
	}
}

func TestLabelColumns(t *testing.T) {
	t.Parallel()
	values := []string{"a|b", " b | a|a", "a", "a|c", "", "a|b|c|d"}
	_, f, r := fitColumns(t, EncodeOptions{RareBelow: 2}, map[string][]string{"genres:labels": values}, "genres:labels")
	if want := []string{"genres=a", "genres=b", "genres=c", "genres other", "genres missing"}; !slices.Equal(f.Names, want) {
		t.Fatalf("got names %q, want %q", f.Names, want)
	}
	for i, want := range map[int][]float32{0: {1, 1, 0, 0, 0}, 1: {1, 1, 0, 0, 0}, 3: {1, 0, 1, 0, 0}, 4: {0, 0, 0, 0, 1}, 5: {1, 1, 1, 1, 0}} {
		if !slices.Equal(f.Row(i), want) {
			t.Errorf("row %d: got %v, want %v", i, f.Row(i), want)
		}
	}
	if c := r.Columns[0]; c.Levels != 4 || c.Pooled != 1 || c.Missing != 1 {
		t.Errorf("got report %+v, want 4 levels, 1 pooled, 1 missing", c)
	}
	// Eight labels, each on half of the entities: the variances add up to 2.
	var many []string
	for i := range 16 {
		text := "z"
		for bit := range 8 {
			if (i>>(bit%4))&1 == 1 {
				text += fmt.Sprintf("|%d", bit)
			}
		}
		many = append(many, text)
	}
	_, f, _ = fitColumns(t, EncodeOptions{}, map[string][]string{"tags:labels": many}, "tags:labels")
	if got := featureColumn(f, "tags=3")[8]; math.Abs(float64(got)-math.Sqrt(.5)) > 1e-6 {
		t.Errorf("got label value %v, want sqrt(1/2)", got)
	}
}

// The threshold for rare levels depends on the number of entities.
func TestRareLevels(t *testing.T) {
	t.Parallel()
	repeat := func(times int, levels ...string) (values []string) {
		for _, level := range levels {
			values = append(values, slices.Repeat([]string{level}, times)...)
		}
		return values
	}
	letters := strings.Split("abcdefghijklmnopqrstuvwxyz0123456789ABCD", "")
	for _, tc := range []struct {
		about  string
		values []string
		levels int // with their own column
	}{
		{"two levels among eight", repeat(4, "a", "b"), 2},
		{"a rare level among eight", append(repeat(7, "a"), "b"), 1},
		{"pairs among forty", append(repeat(18, "a", "b"), repeat(2, "c", "d")...), 4},
		{"four of two hundred are rare", append(repeat(98, "a", "b"), repeat(4, "c")...), 2},
		{"at most three per level", repeat(3, letters...), 40},
		{"all distinct", letters, 0},
		{"nearly all distinct", append(repeat(2, "a"), append(letters, repeat(1, "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z")...)...), 0},
	} {
		x := make([]string, len(tc.values))
		for i := range x {
			x[i] = fmt.Sprint(i)
		}
		_, f, _ := fitColumns(t, EncodeOptions{}, map[string][]string{"c:cat": tc.values, "x:num": x}, "c:cat", "x:num")
		got := 0
		for _, name := range f.Names {
			if strings.HasPrefix(name, "c=") {
				got++
			}
		}
		if got != tc.levels {
			t.Errorf("%s: got names %q, want %d levels", tc.about, f.Names, tc.levels)
		}
	}
}
