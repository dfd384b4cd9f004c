package calendar

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Layout writes moments like some texts that Parse reads.
type Layout struct {
	unix      time.Duration  // unit of unix time, 0 if the texts are dates
	serial    bool           // days as spreadsheets count them
	decimal   *decimalLayout // years with a fraction, or nil
	compact   string         // in digits alone, see compactLayouts
	order     string         // of the parts of a date: ymd, ym, mdy or dmy
	separator string
	shortYear bool    // of two digits
	pad       [3]bool // of the parts of a date, in their order
	between   string  // date and clock: "T", a space, or "" without a clock
	padHour   bool
	minutes   bool
	seconds   bool
	colon     string // between hours, minutes and seconds
	late      bool   // midnight is 24:00
	half      string // AM or PM as written, "" for 24 hours
	rest      string // before AM or PM, as in the last text
	end       string // after it: the zone
}

// LayoutOf returns the layout of texts in the order of time, whose dates have the order o.
// ok is false if they are not all written alike.
func LayoutOf(texts []string, o Order) (l *Layout, ok bool) {
	if o == Serial {
		return &Layout{serial: true}, len(texts) > 0
	}
	if o == Decimal {
		return &Layout{decimal: decimalLayoutOf(texts)}, len(texts) > 0
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
		this.padHour, this.late = this.padHour && l.padHour, this.late || l.late
		if i > 0 && (this.unix != l.unix || this.compact != l.compact || this.order != l.order || this.separator != l.separator || this.shortYear != l.shortYear || this.between != l.between || this.minutes != l.minutes) {
			return nil, false
		}
		*l = this
	}
	return l, len(texts) > 0
}

func layoutOf(text string, o Order) (Layout, bool) {
	l := Layout{pad: [3]bool{true, true, true}, padHour: true}
	if _, ok := o.turned([]byte(text)); ok {
		l.compact = map[Order]string{DayFirst: "02012006", MonthFirst: "01022006"}[o]
		return l, true
	}
	if whole, fraction, _ := strings.Cut(text, "."); len(whole) >= 8 && strings.Trim(whole, "0123456789") == "" {
		_, compact := parseCompact([]byte(whole))
		switch {
		case compact:
			l.compact = compactLayouts[len(whole)]
		case len(whole) <= 11:
			l.unix = time.Second
		case len(whole) <= 14:
			l.unix = time.Millisecond
		case len(whole) <= 17:
			l.unix = time.Microsecond
		default:
			l.unix = time.Nanosecond
		}
		l.end = text[len(whole):] // .0
		return l, strings.Trim(fraction, "0") == ""
	}
	date, clock := text, ""
	if i := strings.IndexAny(text, "T "); i >= 0 {
		date, clock, l.between = text[:i], text[i+1:], text[i:i+1]
		l.cutClock(clock)
	}
	if len(date) == 8 && strings.Trim(date, "0123456789") == "" {
		l.order = compactOrder
		return l, true
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
	return l, true
}

// compactOrder is the order of a date in eight digits before a clock.
const compactOrder = "yyyymmdd"

// cutClock learns how a time of the day is written.
func (l *Layout) cutClock(clock string) {
	digits := func() string {
		n := len(clock) - len(strings.TrimLeft(clock, "0123456789"))
		text := clock[:n]
		clock = clock[n:]
		return text
	}
	hour := digits()
	l.padHour, l.colon = len(hour) > 1, ":"
	switch {
	case len(hour) == 4 || len(hour) == 6:
		l.colon, l.minutes, l.seconds = "", true, len(hour) == 6
	case strings.HasPrefix(clock, ":"):
		clock = clock[1:]
		digits()
		l.minutes = true
		if strings.HasPrefix(clock, ":") {
			clock = clock[1:]
			digits()
			l.seconds = true
		}
	}
	l.late = strings.HasPrefix(hour, "24")
	if strings.HasPrefix(clock, ".") { // a fraction
		clock = clock[1:]
		l.rest = "." + strings.Repeat("0", len(digits()))
	}
	trimmed := strings.TrimLeft(clock, " ")
	l.rest += clock[:len(clock)-len(trimmed)]
	l.half = halfOfDay([]byte(trimmed))
	l.end = trimmed[len(l.half):]
}

// Covers reports whether the text of a moment would be read as that moment: years of two
// digits span a century.
func (l *Layout) Covers(t time.Time) bool { return !l.shortYear || Century(t.Year()%100) == t.Year() }

// Format writes a moment.
func (l *Layout) Format(t time.Time) string {
	switch {
	case l.serial:
		return strconv.FormatFloat(t.Sub(serialEpoch).Hours()/24, 'f', -1, 64)
	case l.decimal != nil:
		return l.decimal.format(t)
	case l.unix != 0:
		return strconv.FormatInt(t.Unix()*int64(time.Second/l.unix)+int64(t.Nanosecond())/int64(l.unix), 10) + l.end
	case l.compact != "":
		return t.Format(l.compact) + l.end
	}
	hour, half := t.Hour(), ""
	if l.late && hour == 0 && t.Minute() == 0 && t.Second() == 0 {
		t, hour = t.AddDate(0, 0, -1), 24
	}
	two := func(v int, pad bool) string {
		if pad {
			return fmt.Sprintf("%02d", v)
		}
		return strconv.Itoa(v)
	}
	text := t.Format("20060102")
	if l.order != compactOrder {
		text = l.formatDate(t, two)
	}
	if l.between == "" {
		return text
	}
	if l.half != "" {
		half = "AM"
		if hour >= 12 {
			half = "PM"
		}
		if len(l.half) > 2 { // a.m.
			half = half[:1] + "." + half[1:] + "."
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
		text += l.colon + two(t.Minute(), true)
	}
	if l.seconds {
		text += l.colon + two(t.Second(), true)
	}
	return text + l.rest + half + l.end
}

// formatDate writes the date of a moment, whose parts two writes with two digits or as few as they
// have.
func (l *Layout) formatDate(t time.Time, two func(v int, pad bool) string) string {
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
	return strings.Join(parts, l.separator)
}
