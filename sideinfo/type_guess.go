package sideinfo

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
	"github.com/kernel-fried-tensor/kft/internal/words"
)

// guessType guesses the type of a column from its name and its values. The notice
// describes values that do not match the guess; it is "" if there are none.
//
// Numbers are num, or log if they are positive and much less skewed on that scale. A
// number with the name of a code (zip) is a category. A number named month, hour,
// weekday or quarter within its range is a cycle. Dates are date, texts with a year at
// their end are year, texts with bars are labels, different
// texts of several words are words, and everything else is cat.
func guessType(name string, values []string, placeOf func(i int) string) (t Type, notice string) {
	var numbers []float64
	var texts []string
	present, moments, written, bars, years, firstText := 0, 0, 0, 0, 0, -1
	for i, text := range values {
		if dataset.Missing(text) {
			continue
		}
		present++
		v, isNumber := dataset.Number(text)
		if isNumber || infinite(text) { // infinite values give an error later
			numbers = append(numbers, v)
		} else if firstText < 0 {
			firstText = i
		}
		texts = append(texts, text)
		if m, ok := dataset.Moment(text); ok && m.Year() >= 1900 && m.Year() < 2200 {
			moments++
			if !isNumber {
				written++
			}
		}
		if _, ok := yearOf(text); ok {
			years++
		}
		if strings.ContainsRune(text, '|') {
			bars++
		}
	}
	parts := columnname.Words(name)
	called := func(among ...string) bool {
		return slices.ContainsFunc(parts, func(w string) bool { return slices.Contains(among, w) })
	}
	switch {
	case present == 0:
		return Num, "" // the column will be dropped
	case moments == present && (written > 0 || called("date", "time", "timestamp", "datetime", "unix")):
		return Date, ""
	case len(numbers) == present && called("id", "key", "code", "zip", "zipcode", "postcode", "postal", "sku", "phone", "no"):
		return Cat, ""
	case len(numbers) == present:
		return guessNumber(parts, numbers), ""
	case 20*len(numbers) >= 19*present && !called("zip", "zipcode", "postcode", "postal", "code", "id"):
		place := ""
		if at := placeOf(firstText); at != "" {
			place = ", " + at
		}
		return Cat, fmt.Sprintf("column %q has the guessed type cat, because %d of %d values are not numbers (the first is %q%s); correct them or set the type to num",
			name, present-len(numbers), present, values[firstText], place)
	case 10*years >= 9*present:
		return Year, ""
	case 10*bars >= present:
		return Labels, ""
	case words.Describe(texts):
		return Words, ""
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

// skewness returns the third standardised moment, or 0 for a constant.
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

// meanAndDeviation returns the mean and the population standard deviation.
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
