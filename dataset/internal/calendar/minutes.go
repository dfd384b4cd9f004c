package calendar

import (
	"strconv"
	"strings"
	"time"
)

// Minutes returns the names of the functions of periods of n minutes: that which a moment is in, as
// in date10min, and that whose beginning is the nearest to it, as in near10min.
func Minutes(n int) (in, nearest string) {
	text := strconv.Itoa(n) + "min"
	return "date" + text, "near" + text
}

// minutesFunction returns a function of periods of some minutes that divide a day, or nil if the name is another one.
func minutesFunction(name string) Function {
	text, isMinutes := strings.CutSuffix(name, "min")
	length, isNearest := strings.CutPrefix(text, "near")
	isPeriod := isNearest
	if !isNearest {
		length, isPeriod = strings.CutPrefix(text, "date")
	}
	n, err := strconv.Atoi(length)
	if !isMinutes || !isPeriod || err != nil || n < 1 || n >= 24*60 || 24*60%n != 0 || strconv.Itoa(n) != length {
		return nil
	}
	return func(dst []byte, t time.Time) []byte {
		if isNearest {
			t = t.Add(time.Duration(n) * time.Minute / 2)
		}
		since := t.Hour()*60 + t.Minute()
		return time.Date(t.Year(), t.Month(), t.Day(), 0, since-since%n, 0, 0, time.UTC).AppendFormat(dst, "2006-01-02 15:04")
	}
}
