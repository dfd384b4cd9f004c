package dataset

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/numeric"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// Missing reports whether a trimmed field has no value: it is empty, NA, N/A, NaN or
// null, in any case.
func Missing(text string) bool { return len(text) <= 4 && numeric.IsMissing([]byte(text)) }

// MissingNumber reports whether a trimmed field of a column of numbers has no value: it is missing,
// or a text that stands for a missing number, such as a question mark, None or #N/A.
func MissingNumber(text string) bool {
	return len(text) <= 4 && (numeric.IsMissing([]byte(text)) || numeric.StandsForMissing([]byte(text)))
}

// Number reads a trimmed field as a number, by the rules for targets. It returns
// false for text, for a missing value and for a value that is not finite.
func Number(text string) (float64, bool) {
	if _, kind := numeric.Parse([]byte(text)); kind != numeric.Finite {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && !math.IsInf(v, 0)
}

// Moment reads a trimmed field as a date or a time, by the rules of the calendar
// functions.
func Moment(text string) (time.Time, bool) { return calendar.Parse([]byte(text)) }

// Functions returns the names of the calendar functions, sorted.
func Functions() []string { return calendar.Names() }

// Calendar applies a calendar function to a moment: month gives 1 to 12. It returns
// false if the function is unknown. See [Functions] and [DaysPrefix].
func Calendar(function string, t time.Time) (string, bool) {
	if strings.HasPrefix(function, DaysPrefix) {
		return dayLevel(function, t)
	}
	f := calendar.ByName(function)
	if f == nil {
		return "", false
	}
	return string(f(nil, t)), true
}

// NumberFormat describes numbers that are written for people, as 1.234,56 € or 12 %.
// The zero value describes plain numbers. See [ParseNumberFormat].
type NumberFormat = numeric.Format

// LimitRemedy says what to write instead of a limit such as <0.5, by its sign. The target of a row
// of which only an upper limit is known has no likelihood.
func LimitRemedy(sign byte) string {
	if sign == '<' {
		return "write a number in its place, such as half of the limit; predictions would be too high without these rows"
	}
	return "write the limit itself as the target, and yes in a column that is named as data.censored"
}

// ParseNumberFormat reads a decimal sign (point or comma, or the character) and a
// separator of thousands (comma, point, space, apostrophe, underscore or none, or the
// character). Two empty texts give plain numbers.
func ParseNumberFormat(decimal, thousands string) (NumberFormat, error) {
	f, field, err := numeric.ParseFormat(decimal, thousands)
	if err != nil {
		return f, fielderr.Errorf(field, "%w", err)
	}
	return f, nil
}
