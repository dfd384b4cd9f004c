package calendar

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// Serial numbers of dates that are plausible: 1982 to 2064.
const firstSerial, lastSerial = 30_000, 60_000

// serialEpoch is day 0 of the serial numbers of spreadsheets, of which day 60, 1900-02-29, does not
// exist.
var serialEpoch = time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)

// parseSerial reads the days since the epoch of spreadsheets; a fraction is the time of the day.
func parseSerial(b []byte) (time.Time, bool) {
	if len(b) < 5 || b[0] < '0' || b[0] > '9' {
		return time.Time{}, false
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || !(v >= firstSerial && v <= lastSerial) {
		return time.Time{}, false
	}
	day := math.Floor(v)
	return serialEpoch.AddDate(0, 0, int(day)).Add(time.Duration(math.Round((v-day)*86400)) * time.Second), true
}

// fewSerials is the number of dates below which numbers are not taken for them.
const fewSerials = 8

// AreSerials reports whether texts are serial numbers of days that follow the calendar: days
// without many gaps, as those of a shop that closes on Sundays, days a whole number of weeks
// apart, or the first or the last days of months. Fractions are times of the day.
func AreSerials(texts []string) bool {
	var days []int
	first, last := true, true
	for _, text := range texts {
		t, ok := parseSerial([]byte(text))
		if !ok {
			return false
		}
		days = append(days, int(t.Sub(serialEpoch)/(24*time.Hour)))
		first, last = first && t.Day() == 1, last && t.AddDate(0, 0, 1).Day() == 1
	}
	slices.Sort(days)
	if days = slices.Compact(days); len(days) < fewSerials {
		return false
	}
	weeks, next := true, 0
	for i := 1; i < len(days); i++ {
		step := days[i] - days[i-1]
		weeks = weeks && step%7 == 0
		if step <= 3 {
			next++
		}
	}
	dense := 2*len(days) >= days[len(days)-1]-days[0]
	return first || last || weeks && days[len(days)-1]-days[0] <= 21*len(days) || dense && 10*next >= 9*(len(days)-1)
}
