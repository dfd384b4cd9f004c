package calendar

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Layout writes moments like some texts that Parse reads.
type Layout struct {
	unix      time.Duration // unit of unix time, 0 if the texts are dates
	serial    bool          // days as spreadsheets count them
	compact   bool          // yyyymmdd
	order     string        // of the parts of a date: ymd, ym, mdy or dmy
	separator string
	shortYear bool    // of two digits
	pad       [3]bool // of the parts of a date, in their order
	between   string  // date and clock: "T", a space, or "" without a clock
	padHour   bool
	minutes   bool
	half      string // AM or PM as written, "" for 24 hours
	rest      string // after the minutes, as in the last text
}

// LayoutOf returns the layout of texts in the order of time, whose dates have the order o.
// ok is false if they are not all written alike.
func LayoutOf(texts []string, o Order) (l *Layout, ok bool) {
	if o == Serial {
		return &Layout{serial: true}, len(texts) > 0
	}
	l = &Layout{pad: [3]bool{true, true, true}, padHour: true}
	for i, text := range texts {
		this, ok := layoutOf(text, o)
		if !ok {
			return nil, false
		}
		for k := range l.pad {
			this.pad[k] = this.pad[k] && l.pad[k]
		}
		this.padHour = this.padHour && l.padHour
		if i > 0 && (this.unix != l.unix || this.compact != l.compact || this.order != l.order || this.separator != l.separator || this.shortYear != l.shortYear || this.between != l.between || this.minutes != l.minutes) {
			return nil, false
		}
		*l = this
	}
	return l, len(texts) > 0
}

func layoutOf(text string, o Order) (Layout, bool) {
	l := Layout{pad: [3]bool{true, true, true}, padHour: true}
	if whole, _, fraction := strings.Cut(text, "."); !fraction && strings.Trim(text, "0123456789") == "" || fraction && len(whole) >= 8 {
		switch {
		case len(whole) == 8:
			l.compact = true
		case len(whole) <= 11:
			l.unix = time.Second
		case len(whole) <= 14:
			l.unix = time.Millisecond
		case len(whole) <= 17:
			l.unix = time.Microsecond
		default:
			l.unix = time.Nanosecond
		}
		return l, !fraction
	}
	date, clock := text, ""
	if i := strings.IndexAny(text, "T "); i >= 0 {
		date, clock, l.between = text[:i], text[i+1:], text[i:i+1]
	}
	i := strings.IndexAny(date, "-/.")
	if i < 1 {
		return l, false
	}
	l.separator = date[i : i+1]
	parts := strings.Split(date, l.separator)
	switch {
	case len(parts) == 2:
		l.order = "ym"
	case len(parts[0]) == 4:
		l.order = "ymd"
	case o != ByText:
		l.order = string(o)
	case l.separator == "/":
		l.order = string(MonthFirst)
	default:
		l.order = string(DayFirst)
	}
	if k := strings.IndexByte(l.order, 'y'); k < len(parts) {
		l.shortYear = len(parts[k]) == 2
	}
	for k, part := range parts[:min(len(parts), 3)] {
		l.pad[k] = len(part) > 1
	}
	if l.between != "" {
		hour := len(clock) - len(strings.TrimLeft(clock, "0123456789"))
		l.padHour, l.rest = hour > 1, clock[hour:]
		if strings.HasPrefix(l.rest, ":") {
			digits := len(l.rest) - 1 - len(strings.TrimLeft(l.rest[1:], "0123456789"))
			l.minutes, l.rest = true, l.rest[1+digits:]
		}
		if n := len(l.rest); n >= 2 {
			if half := strings.ToLower(l.rest[n-2:]); half == "am" || half == "pm" {
				l.half, l.rest = l.rest[n-2:], l.rest[:n-2]
			}
		}
	}
	return l, true
}

// Covers reports whether the text of a moment would be read as that moment: years of two
// digits span a century.
func (l *Layout) Covers(t time.Time) bool { return !l.shortYear || Century(t.Year()%100) == t.Year() }

// Format writes a moment.
func (l *Layout) Format(t time.Time) string {
	switch {
	case l.serial:
		return strconv.FormatFloat(t.Sub(serialEpoch).Hours()/24, 'f', -1, 64)
	case l.unix != 0:
		return strconv.FormatInt(t.Unix()*int64(time.Second/l.unix)+int64(t.Nanosecond())/int64(l.unix), 10)
	case l.compact:
		return t.Format("20060102")
	}
	two := func(v int, pad bool) string {
		if pad {
			return fmt.Sprintf("%02d", v)
		}
		return strconv.Itoa(v)
	}
	parts := make([]string, len(l.order))
	for k, c := range l.order {
		switch c {
		case 'y':
			parts[k] = fmt.Sprintf("%04d", t.Year())
			if l.shortYear {
				parts[k] = parts[k][2:]
			}
		case 'm':
			parts[k] = two(int(t.Month()), l.pad[k])
		default:
			parts[k] = two(t.Day(), l.pad[k])
		}
	}
	text := strings.Join(parts, l.separator)
	if l.between == "" {
		return text
	}
	hour, half := t.Hour(), ""
	if l.half != "" {
		half = "AM"
		if hour >= 12 {
			half = "PM"
		}
		if hour = hour % 12; hour == 0 {
			hour = 12
		}
		if l.half == strings.ToLower(l.half) {
			half = strings.ToLower(half)
		}
	}
	text += l.between + two(hour, l.padHour)
	if l.minutes {
		text += ":" + two(t.Minute(), true)
	}
	return text + l.rest + half
}
