package sideinfo

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// guessType guesses how to encode a column from its name and its values; a note
// says what the guess left aside, or is "".
//
// Numbers are num, or log where they are positive and far more even on that
// scale; a number called like a code (zip) is a category, one called month, hour,
// weekday or quarter within its range is a cycle. Dates are date, names with bars
// labels, all else cat.
func guessType(name string, values []string, placeOf func(i int) string) (t Type, note string) {
	var numbers []float64
	present, moments, written, bars, firstText := 0, 0, 0, 0, -1
	for i, text := range values {
		if dataset.Missing(text) {
			continue
		}
		present++
		v, isNumber := dataset.Number(text)
		if isNumber || infinite(text) { // which is refused later, in words
			numbers = append(numbers, v)
		} else if firstText < 0 {
			firstText = i
		}
		if m, ok := dataset.Moment(text); ok && m.Year() >= 1900 && m.Year() < 2200 {
			moments++
			if !isNumber {
				written++
			}
		}
		if strings.ContainsRune(text, '|') {
			bars++
		}
	}
	words := nameWords(name)
	called := func(among ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(among, w) })
	}
	switch {
	case present == 0:
		return Num, "" // dropped in any case
	case moments == present && (written > 0 || called("date", "time", "timestamp", "datetime", "unix")):
		return Date, ""
	case len(numbers) == present && called("id", "key", "code", "zip", "zipcode", "postcode", "postal", "sku", "phone", "no"):
		return Cat, ""
	case len(numbers) == present:
		return guessNumber(words, numbers), ""
	case 20*len(numbers) >= 19*present && !called("zip", "zipcode", "postcode", "postal", "code", "id"):
		place := ""
		if at := placeOf(firstText); at != "" {
			place = ", " + at
		}
		return Cat, fmt.Sprintf("column %q was taken as cat: %d of %d values are no numbers (the first is %q%s); mend them and give it the type num",
			name, present-len(numbers), present, values[firstText], place)
	case 10*bars >= present:
		return Labels, ""
	}
	return Cat, ""
}

func guessNumber(words []string, numbers []float64) Type {
	low, high := slices.Min(numbers), slices.Max(numbers)
	whole := !slices.ContainsFunc(numbers, func(v float64) bool { return v != math.Trunc(v) })
	if whole && len(words) > 0 {
		for _, known := range []struct {
			word      string
			low, high float64
			cycle     Type
		}{{"month", 1, 12, "cycle12"}, {"hour", 0, 23, "cycle24"}, {"weekday", 0, 7, "cycle7"}, {"quarter", 1, 4, "cycle4"}} {
			if words[len(words)-1] == known.word && low >= known.low && high <= known.high {
				return known.cycle
			}
		}
	}
	if low > 0 {
		logs := make([]float64, len(numbers))
		for i, v := range numbers {
			logs[i] = math.Log(v)
		}
		if skew := skewness(numbers); skew > 2 && math.Abs(skewness(logs)) < skew/2 {
			return Log
		}
	}
	return Num
}

// skewness is the third standardised moment, 0 for a constant.
func skewness(values []float64) float64 {
	mean, sd := meanAndDeviation(values)
	if sd == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		z := (v - mean) / sd
		sum += z * z * z
	}
	return sum / float64(len(values))
}

// meanAndDeviation returns mean and standard deviation (of the values, not of a sample).
func meanAndDeviation(values []float64) (mean, sd float64) {
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	for _, v := range values {
		sd += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sd / float64(len(values)))
}

// nameWords cuts a name into words: list_date, listDate and "list date" alike.
func nameWords(name string) []string {
	var spaced strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' && i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
			spaced.WriteByte(' ')
		}
		spaced.WriteRune(r)
	}
	return strings.FieldsFunc(strings.ToLower(spaced.String()), func(r rune) bool { return strings.ContainsRune(" _-.", r) })
}
