package dataset

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// DaysPrefix begins the name of a part of the date that tells some days of the year from all others, by
// rules with _ between them, as in days_12-25_11-4thu_easter1. See [DayRules].
const DaysPrefix = "days_"

// OtherDays is the level of days of which no rule holds.
const OtherDays = "other"

// Days around Easter Sunday that have a rule, from before carnival to after Corpus Christi, and around Thanksgiving, to
// the Monday after it.
const (
	beforeEaster       = 52
	afterEaster        = 63
	aroundThanksgiving = 4
)

// DayRules returns the rules for days of the year that hold for a date: its month and day (12-25); which one
// of the same weekdays of its month it is (11-4thu), and whether it is the last (05-lastmon); and the days
// since Easter Sunday (easter1, easter-2) and since Thanksgiving of the USA (thanksgiving1).
func DayRules(t time.Time) []string {
	month, weekday := int(t.Month()), strings.ToLower(t.Weekday().String()[:3])
	rules := []string{
		fmt.Sprintf("%02d-%02d", month, t.Day()),
		fmt.Sprintf("%02d-%d%s", month, (t.Day()+6)/7, weekday),
	}
	if t.AddDate(0, 0, 7).Month() != t.Month() {
		rules = append(rules, fmt.Sprintf("%02d-last%s", month, weekday))
	}
	if n := t.YearDay() - easter(t.Year()).YearDay(); -beforeEaster <= n && n <= afterEaster {
		rules = append(rules, fmt.Sprintf("easter%d", n))
	}
	if n := t.YearDay() - thanksgiving(t.Year()).YearDay(); -aroundThanksgiving <= n && n <= aroundThanksgiving {
		rules = append(rules, fmt.Sprintf("thanksgiving%d", n))
	}
	return rules
}

// thanksgiving returns the fourth Thursday of November, whose days after it may be in another week of the month.
func thanksgiving(year int) time.Time {
	first := time.Date(year, time.November, 1, 0, 0, 0, 0, time.UTC)
	return first.AddDate(0, 0, (int(time.Thursday-first.Weekday())+7)%7+21)
}

// easter returns Easter Sunday of the Gregorian calendar, by the rule of Meeus, Jones and Butcher.
func easter(year int) time.Time {
	a, b, c := year%19, year/100, year%100
	h := (19*a + b - b/4 - (b-(b+8)/25+1)/3 + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	m := (a + 11*h + 22*l) / 451
	days := h + l - 7*m + 114
	return time.Date(year, time.Month(days/31), days%31+1, 0, 0, 0, 0, time.UTC)
}

// allDayRules returns the rules that there are: those of 28 years, after which the weekdays of dates repeat.
var allDayRules = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for t := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); t.Year() < 2028; t = t.AddDate(0, 0, 1) {
		for _, rule := range DayRules(t) {
			all[rule] = true
		}
	}
	return all
})

// dayLevel returns the first rule of a part such as days_12-25_11-4thu that holds for a date, or OtherDays. It is
// false if the part has a rule that does not exist.
func dayLevel(part string, t time.Time) (string, bool) {
	rules := strings.Split(strings.TrimPrefix(part, DaysPrefix), "_")
	holding := DayRules(t)
	level := OtherDays
	for _, rule := range rules {
		if !allDayRules()[rule] {
			return "", false
		}
		if level == OtherDays && slices.Contains(holding, rule) {
			level = rule
		}
	}
	return level, true
}
