package dataset

import (
	"math"
	"slices"
	"time"
)

// A Timeline numbers the periods of a mode's ids, so that the distance of two ids is a
// number of periods, with those that do not occur counted.
type Timeline struct {
	Index []int32 // by code: number of the period, counted from the earliest id
	Unit  string  // hour, day, week, month, quarter or year; "" if the ids do not say
}

// Timeline finds the periods of a mode's ids. If the ids say only their order, the
// periods are their positions in it. It returns the error of [Mode.Chronology] if the
// order is ambiguous.
func (m Mode) Timeline(ids []string) (Timeline, error) {
	chronology, err := m.Chronology(ids)
	if err != nil {
		return Timeline{}, err
	}
	for _, fields := range splitIDs(ids, len(m.Columns)) {
		parts, ok := partsOfColumns(m.Columns, fields)
		if !ok {
			continue
		}
		if _, ok := rankParts(parts); ok {
			if line, ok := numberPeriods(parts); ok {
				return line, nil
			}
			break
		}
	}
	line := Timeline{Index: make([]int32, len(ids))}
	for at, code := range chronology.Order {
		line.Index[code] = int32(at)
	}
	return line, nil
}

// numberPeriods numbers periods by parts that rankParts has sorted from coarse to fine.
func numberPeriods(parts []calendarPart) (Timeline, bool) {
	values := func(p calendarPart, i int) int { return int(p.values[i]) }
	first := parts[0]
	moments := make([]time.Time, len(first.values))
	switch {
	case len(parts) == 1 && first.role == wholeDate:
		for i, v := range first.values {
			moments[i] = time.Unix(int64(math.Floor(v)), 0).UTC()
		}
		return periodsOfMoments(moments)
	case len(parts) == 1:
		unit := ""
		if first.role >= aYear && first.role <= aDay {
			unit = calendarParts[first.role].words[0]
		}
		if first.role == anHour {
			unit = "hour"
		}
		return counted(first.values, unit)
	case len(parts) == 2 && first.role == aYear:
		perYear, unit := 0, ""
		switch second := parts[1]; {
		case second.most > calendarParts[aWeek].most: // a running number beside the year
			return counted(second.values, "")
		case second.role == aQuarter || second.role == aWeek && second.most <= 4:
			perYear, unit = 4, "quarter"
		case second.role == aMonth || second.role == aWeek && second.most <= 12:
			perYear, unit = 12, "month"
		case second.role == aWeek:
			for i := range moments {
				// ISO week 1 contains 4 January; weeks begin on Monday.
				january := time.Date(values(first, i), 1, 4, 0, 0, 0, 0, time.UTC)
				moments[i] = january.AddDate(0, 0, 7*(values(second, i)-1)-(int(january.Weekday())+6)%7)
			}
			return periodsOfMoments(moments)
		default:
			return Timeline{}, false
		}
		numbers := make([]float64, len(first.values))
		for i := range numbers {
			numbers[i] = first.values[i]*float64(perYear) + parts[1].values[i]
		}
		return counted(numbers, unit)
	case len(parts) == 3 && first.role == aYear && parts[1].role == aMonth && parts[2].role == aDay:
		for i := range moments {
			moments[i] = time.Date(values(first, i), time.Month(values(parts[1], i)), values(parts[2], i), 0, 0, 0, 0, time.UTC)
		}
		return periodsOfMoments(moments)
	case len(parts) == 2 && first.role == wholeDate && parts[1].role == anHour:
		for i, v := range first.values {
			moments[i] = time.Unix(int64(math.Floor(v)), 0).UTC().Add(time.Duration(values(parts[1], i)) * time.Hour)
		}
		return periodsOfMoments(moments)
	}
	return Timeline{}, false
}

// periodsOfMoments finds the longest calendar unit of which all moments are multiples
// apart.
func periodsOfMoments(moments []time.Time) (Timeline, bool) {
	months := !slices.ContainsFunc(moments, func(t time.Time) bool {
		return t.Day() != 1 || t.Hour() != 0 || t.Minute() != 0 || t.Second() != 0
	})
	numbers := make([]float64, len(moments))
	if months {
		for i, t := range moments {
			numbers[i] = float64(12*t.Year() + int(t.Month()) - 1)
		}
		step, unit := spacing(numbers), "month"
		switch {
		case step%12 == 0:
			step, unit = 12, "year"
		case step%3 == 0:
			step, unit = 3, "quarter"
		default:
			step = 1
		}
		return counted(scaled(numbers, float64(step)), unit)
	}
	for i, t := range moments {
		numbers[i] = float64(t.Unix())
	}
	const hour, day = 3600, 24 * 3600
	switch step := spacing(numbers); {
	case step%(7*day) == 0:
		return counted(scaled(numbers, 7*day), "week")
	case step%day == 0:
		return counted(scaled(numbers, day), "day")
	case step%hour == 0:
		return counted(scaled(numbers, hour), "hour")
	default:
		return counted(scaled(numbers, float64(step)), "")
	}
}

// spacing returns the greatest common divisor of the differences of whole numbers, 1 if
// all are equal.
func spacing(numbers []float64) int64 {
	var divisor int64
	for _, v := range numbers {
		a, b := divisor, int64(math.Abs(v-numbers[0]))
		for b != 0 {
			a, b = b, a%b
		}
		divisor = a
	}
	return max(divisor, 1)
}

// scaled divides the distances from the earliest number by a step.
func scaled(numbers []float64, step float64) []float64 {
	first := slices.Min(numbers)
	out := make([]float64, len(numbers))
	for i, v := range numbers {
		out[i] = (v - first) / step
	}
	return out
}

// counted numbers periods by whole numbers, from the smallest on.
func counted(numbers []float64, unit string) (Timeline, bool) {
	first, last := slices.Min(numbers), slices.Max(numbers)
	if !allWhole(numbers) || last-first >= math.MaxInt32 {
		return Timeline{}, false
	}
	line := Timeline{Index: make([]int32, len(numbers)), Unit: unit}
	for i, v := range numbers {
		line.Index[i] = int32(v - first)
	}
	return line, true
}
