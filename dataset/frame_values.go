package dataset

import (
	"math"
	"strconv"
	"time"
)

// Missing reports whether a trimmed field says that there is no value: it is
// empty, NA, NaN or null.
func Missing(text string) bool { return len(text) <= 4 && isMissingText([]byte(text)) }

// Number reads a trimmed field as a number, by the rules a target is read by. It
// returns false for text, for a missing value and for what is not finite.
func Number(text string) (float64, bool) {
	if _, kind := parseNumber([]byte(text)); kind != isNumber {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && !math.IsInf(v, 0)
}

// Moment reads a trimmed field as a date or a time, by the rules of the calendar
// functions.
func Moment(text string) (time.Time, bool) { return parseMoment([]byte(text)) }

// Calendar applies a calendar function, one of Functions(), to a moment: month
// gives 1 to 12. It returns false where there is no such function.
func Calendar(function string, t time.Time) (string, bool) {
	f, ok := calendarFunctions()[function]
	if !ok {
		return "", false
	}
	return string(f(nil, t)), true
}
