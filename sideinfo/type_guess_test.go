package sideinfo

import (
	"fmt"
	"slices"
	"testing"
)

func TestGuessedTypes(t *testing.T) {
	t.Parallel()
	skewed := []string{"1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "3", "5", "6", "7", "9"}
	for _, tc := range []struct {
		name   string
		values []string
		want   Type
	}{
		{"lat", []string{"1.5", "", "-2"}, Num},
		{"price", skewed, Log},
		{"zip", []string{"50613", "712-2", "50543"}, Cat},
		{"zipCode", []string{"50613", "50543"}, Cat},
		{"month", []string{"1", "12"}, "cycle12"},
		{"month", []string{"1", "13"}, Num},
		{"hour", []string{"0", "23"}, "cycle24"},
		{"list_date", []string{"10/01/2016", "2016-10-01", ""}, Date},
		{"day", []string{"20161001", "20161002"}, Num},
		{"created_date", []string{"20161001", "20161002"}, Date},
		{"genres", []string{"a|b", "c"}, Labels},
		{"city", []string{"Ames", "12"}, Cat},
		{"name", []string{"Red Vodka 1L", "Blue Vodka", "Red Gin", "Old Gin 2"}, Words},
		{"name", []string{"Red Vodka", "Red Vodka", "Old Gin", "Old Gin"}, Cat},
		{"none", []string{"", "NA"}, Num},
	} {
		if got, notice := guessType(tc.name, tc.values, func(int) string { return "" }); got != tc.want || notice != "" {
			t.Errorf("%s %q: got type %s, notice %q; want %s", tc.name, tc.values, got, notice, tc.want)
		}
	}
	values := append(slices.Repeat([]string{"1", "2"}, 20), "n.a.")
	const want = `column "size" has the guessed type cat, because 1 of 41 values are not numbers (the first is "n.a.", line 42); correct them or set the type to num`
	got, notice := guessType("size", values, func(i int) string { return fmt.Sprint("line ", i+2) })
	if got != Cat || notice != want {
		t.Errorf("got type %s, notice %s; want %s, %s", got, notice, Cat, want)
	}
}
