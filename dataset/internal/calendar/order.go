package calendar

import (
	"bytes"
	"slices"
)

// An Order is the order of day, month and year in dates that do not start with a year of
// four digits.
type Order string

// The orders of the parts of a date.
const (
	ByText     Order = ""    // 12/31/2016 is mdy, 31.12.2016 is dmy
	MonthFirst Order = "mdy" // as in the United States
	DayFirst   Order = "dmy"
	YearFirst  Order = "ymd" // with a year of two digits, as in 16/12/31

	// Serial is that of numbers of days, as spreadsheets count them: 45292 is 2024-01-01.
	Serial Order = "serial"
	// Decimal is that of years with a fraction: 1973.083 is February 1973.
	Decimal Order = "decimal"
)

// OrderOf returns the order in which all texts are dates: the only one that gives valid
// dates. If more than one does (see [Order.Ambiguous]), it is the one that gives the first
// days of months without gaps, where ByText gives days with gaps, or else ByText. ok is false
// if there is none.
func OrderOf(texts []string) (order Order, ok bool) {
	fits := func(o Order) bool {
		for _, text := range texts {
			parts, separator := cutDate([]byte(text))
			if likeVersion(parts, separator) || o == YearFirst && len(parts) > 0 && len(parts[0]) != 2 {
				return false
			}
			if _, ok := o.Parse([]byte(text)); !ok {
				return false
			}
		}
		return len(texts) > 0
	}
	for _, o := range []Order{ByText, DayFirst, MonthFirst} { // 01-02-2016 is rarely mdy
		if fits(o) {
			order, ok = o, true
			break
		}
	}
	if ok {
		for _, o := range []Order{DayFirst, MonthFirst} {
			if fits(o) && firstsOfMonths(texts, o, order) {
				order = o
				break
			}
		}
	}
	// 16/12/31 may be dmy as well. The years decide, because they differ less than days.
	if fits(YearFirst) && (!ok || yearRange(YearFirst, texts) < yearRange(order, texts)) {
		return YearFirst, true
	}
	return order, ok
}

// Ambiguous returns a text that another order of day and month would read as another
// date, and that order, if it fits all texts as well.
func (o Order) Ambiguous(texts []string) (example string, other Order, ok bool) {
	for _, other := range []Order{DayFirst, MonthFirst} {
		differs := -1
		for i, text := range texts {
			this, _ := o.Parse([]byte(text))
			that, ok := other.Parse([]byte(text))
			if !ok {
				differs = -1
				break
			}
			if differs < 0 && !this.Equal(that) {
				differs = i
			}
		}
		if differs >= 0 && o != YearFirst {
			return texts[differs], other, true
		}
	}
	return "", ByText, false
}

// BothOrders reports whether all texts are dates, of which some have the day first and others the month, as where a
// spreadsheet has read some of them in the order of another country, and returns one of each.
func BothOrders(texts []string) (day, month string, both bool) {
	for _, text := range texts {
		_, dayFirst := DayFirst.Parse([]byte(text))
		_, monthFirst := MonthFirst.Parse([]byte(text))
		switch {
		case !dayFirst && !monthFirst:
			return "", "", false
		case !monthFirst && day == "":
			day = text
		case !dayFirst && month == "":
			month = text
		}
	}
	return day, month, day != "" && month != ""
}

// MostDates returns the order that reads the most texts as dates and the texts that it
// does not read, or none if they are more than a tenth.
func MostDates(texts []string) (best Order, bad []string) {
	fewest := max(1, len(texts)/10)
	if len(texts) < fewDates {
		return "", nil
	}
	for _, order := range []Order{ByText, DayFirst, MonthFirst} {
		wrong := slices.DeleteFunc(slices.Clone(texts), func(text string) bool {
			_, ok := order.Parse([]byte(text))
			return ok
		})
		if len(wrong) == 0 {
			return "", nil // OrderOf says why they are no dates
		}
		if len(wrong) < fewest || bad == nil && len(wrong) == fewest {
			best, bad, fewest = order, wrong, len(wrong)
		}
	}
	return best, bad
}

// fewDates is the number of values below which one that is not a date says nothing.
const fewDates = 8

// fewFirsts is the number of months from which their first days are not by chance.
const fewFirsts = 6

// firstsOfMonths reports whether the order o reads the texts as the first days of months
// without gaps, and the other order reads them as other days, with gaps.
func firstsOfMonths(texts []string, o, other Order) bool {
	months, days := map[int]bool{}, map[int64]bool{}
	lowMonth, highMonth, lowDay, highDay := 1<<30, 0, int64(1<<62), int64(-1<<62)
	differ := false
	for _, text := range texts {
		this, _ := o.Parse([]byte(text))
		that, _ := other.Parse([]byte(text))
		if this.Day() != 1 || this.Hour() != 0 || this.Minute() != 0 {
			return false
		}
		differ = differ || that.Day() != 1
		month, day := 12*this.Year()+int(this.Month()), that.Unix()/86400
		months[month], days[day] = true, true
		lowMonth, highMonth = min(lowMonth, month), max(highMonth, month)
		lowDay, highDay = min(lowDay, day), max(highDay, day)
	}
	if !differ || len(months) < fewFirsts || highDay-lowDay == int64(len(days))-1 {
		return false
	}
	return highMonth-lowMonth == len(months)-1
}

// likeVersion reports whether a date with a year of two digits may as well be a version,
// such as 1.2.22.
func likeVersion(parts [][]byte, separator byte) bool {
	return len(parts) == 3 && len(parts[0]) <= 2 && len(parts[2]) == 2 && separator != '/' && (len(parts[0]) != 2 || len(parts[1]) != 2)
}

func yearRange(o Order, texts []string) int {
	low, high := 9999, 0
	for _, text := range texts {
		t, _ := o.Parse([]byte(text))
		low, high = min(low, t.Year()), max(high, t.Year())
	}
	return high - low
}

// cutDate returns the parts of the date in a text and what separates them.
func cutDate(b []byte) (parts [][]byte, separator byte) {
	if i := bytes.IndexAny(b, "T "); i >= 0 {
		b = b[:i]
	}
	i := bytes.IndexAny(b, "-/.")
	if i < 1 {
		return nil, 0
	}
	return bytes.Split(b, b[i:i+1]), b[i]
}

// parseDate reads y-m-d, y/m/d, y.m.d and y-m with years of four digits, and three parts
// in the order o. ByText does not read m-d-y, which may be anything.
func (o Order) parseDate(b []byte) (year, month, day int, ok bool) {
	parts, separator := cutDate(b)
	if len(parts) < 2 || len(parts) > 3 {
		return 0, 0, 0, false
	}
	var v [3]int
	for i, part := range parts {
		if v[i], ok = smallNumber(part); !ok {
			return 0, 0, 0, false
		}
	}
	if o == ByText && !likeVersion(parts, separator) {
		switch separator {
		case '/':
			o = MonthFirst
		case '.':
			o = DayFirst
		}
	}
	switch {
	case len(parts[0]) == 4 && len(parts) == 2:
		year, month, day = v[0], v[1], 1
	case len(parts[0]) == 4:
		year, month, day = v[0], v[1], v[2]
	case len(parts) != 3 || len(parts[0]) > 2 || len(parts[1]) > 2 || o == ByText:
		return 0, 0, 0, false
	case o == YearFirst && len(parts[0]) == 2 && len(parts[2]) <= 2:
		year, month, day = Century(v[0]), v[1], v[2]
	case o == YearFirst || len(parts[2]) != 4 && len(parts[2]) != 2:
		return 0, 0, 0, false
	default:
		year, month, day = v[2], v[0], v[1]
		if len(parts[2]) == 2 {
			year = Century(year)
		}
		if o == DayFirst {
			month, day = day, month
		}
	}
	return year, month, day, month >= 1 && month <= 12 && day >= 1 && day <= 31
}

// turned returns a date in eight digits with the year of 1900 to 2099 at the end, such as 31122016, with the
// year first. With the year first no date has the month 19 or 20.
func (o Order) turned(b []byte) (date [8]byte, ok bool) {
	if o != DayFirst && o != MonthFirst || len(b) != 8 || !bytes.HasPrefix(b[4:], []byte("19")) && !bytes.HasPrefix(b[4:], []byte("20")) {
		return date, false
	}
	copy(date[:], b[4:])
	copy(date[4:], b[:4])
	if o == DayFirst {
		copy(date[4:6], b[2:4])
		copy(date[6:], b[:2])
	}
	_, ok = parseCompact(date[:])
	return date, ok
}

// Century returns the year that two digits stand for, 1969 to 2068, as in POSIX.
func Century(year int) int {
	if year >= 69 {
		return 1900 + year
	}
	return 2000 + year
}
