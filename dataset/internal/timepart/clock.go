package timepart

import (
	"regexp"
	"strconv"
	"strings"
)

// AreClocks reports whether all texts are times of the day, as 9:30 or 09:30:00, or with AM or PM.
func AreClocks(texts []string) bool {
	if areClocks(texts) {
		return true
	}
	_, half := halfClockParts(texts)
	return half
}

// areClocks reports whether all texts are times of the day without AM or PM.
func areClocks(texts []string) bool {
	for _, text := range texts {
		pieces := strings.Split(text, ":")
		if len(pieces) != 2 && len(pieces) != 3 {
			return false
		}
		for i, piece := range pieces {
			n, err := strconv.Atoi(piece)
			if err != nil || len(piece) > 2 || i > 0 && len(piece) != 2 || n < 0 || float64(n) > units[Hour+Unit(i)].most {
				return false
			}
		}
	}
	return len(texts) > 0
}

var halfClockText = regexp.MustCompile(`^(\d{1,2})(?::(\d\d))?(?::(\d\d))? ?([ap])\.?m\.?$`)

// HalfClock reads a time of the day with AM or PM, as in 9:30 PM, 09:30:00 a.m. or 9pm: the hour
// from 0 to 23, and the minute and the second as far as they are written.
func HalfClock(text string) (numbers []float64, ok bool) {
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
func halfClockParts(texts []string) (parts []partValues, ok bool) {
	for k, text := range texts {
		numbers, ok := HalfClock(text)
		if !ok || k > 0 && len(numbers) != len(parts) {
			return nil, false
		}
		if k == 0 {
			for i := range numbers {
				parts = append(parts, partValues{Part: Part{Unit: Hour + Unit(i), Half: true}})
			}
		}
		for i, v := range numbers {
			parts[i].values = append(parts[i].values, v)
		}
	}
	return parts, len(texts) > 0
}
