package dataset

import (
	"regexp"
	"strconv"
	"strings"
)

var halfClockText = regexp.MustCompile(`^(\d{1,2})(?::(\d\d))?(?::(\d\d))? ?([ap])\.?m\.?$`)

// halfClock reads a time of the day with AM or PM, as in 9:30 PM, 09:30:00 a.m. or 9pm: the hour
// from 0 to 23, and the minute and the second as far as they are written.
func halfClock(text string) (numbers []float64, ok bool) {
	groups := halfClockText.FindStringSubmatch(strings.ToLower(text))
	if groups == nil {
		return nil, false
	}
	for i, group := range groups[1:4] {
		if group == "" {
			continue
		}
		n, _ := strconv.Atoi(group)
		if i == 0 {
			if n < 1 || n > 12 {
				return nil, false
			}
			if n %= 12; groups[4] == "p" {
				n += 12
			}
		} else if n > 59 {
			return nil, false
		}
		numbers = append(numbers, float64(n))
	}
	return numbers, true
}

// halfClockParts reads texts that are all times of the day with AM or PM, with the same precision.
func halfClockParts(texts []string) (parts []calendarPart, ok bool) {
	for k, text := range texts {
		numbers, ok := halfClock(text)
		if !ok || k > 0 && len(numbers) != len(parts) {
			return nil, false
		}
		if k == 0 {
			for i := range numbers {
				parts = append(parts, calendarPart{role: anHour + calendarRole(i), half: true})
			}
		}
		for i, v := range numbers {
			parts[i].values = append(parts[i].values, v)
		}
	}
	return parts, len(texts) > 0
}

func areHalfClocks(texts []string) bool {
	_, ok := halfClockParts(texts)
	return ok
}
