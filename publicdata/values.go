package publicdata

import (
	"bytes"
	"strconv"
	"strings"
)

// appendID appends an id in canonical form: numbers without leading zeros and
// without a trailing .0, everything else unchanged.
func appendID(dst, field []byte) []byte {
	digits := 0
	for digits < len(field) && field[digits]-'0' < 10 {
		digits++
	}
	if rest := field[digits:]; digits == 0 || len(rest) > 0 && (rest[0] != '.' || len(bytes.Trim(rest, ".0")) > 0) {
		return append(dst, field...)
	}
	number := bytes.TrimLeft(field[:digits], "0")
	if len(number) == 0 {
		number = field[digits-1 : digits]
	}
	return append(dst, number...)
}

// day is a date as yyyymmdd, so that later days compare greater.
type day int32

func (d day) year() int  { return int(d) / 10000 }
func (d day) month() int { return int(d) / 100 % 100 }

// parseDay parses 01/31/2015 and 2015-01-31, with an optional time after it.
func parseDay(field []byte) (day, bool) {
	var part [3]int
	k, digits, mark := 0, 0, byte(0)
	for i, c := range field {
		switch {
		case c-'0' < 10 && digits < 4:
			part[k] = part[k]*10 + int(c-'0')
			digits++
			continue
		case (c == '/' || c == '-') && digits > 0 && k < 2 && (mark == 0 || mark == c):
			mark = c
			k++
			digits = 0
			continue
		case k == 2 && digits > 0 && (c == ' ' || c == 'T') && i+1 < len(field):
		default:
			return 0, false
		}
		break
	}
	if k != 2 || digits == 0 {
		return 0, false
	}
	year, month, date := part[2], part[0], part[1]
	if mark == '-' {
		year, month, date = part[0], part[1], part[2]
	}
	if year < 1000 || month < 1 || month > 12 || date < 1 || date > 31 {
		return 0, false
	}
	return day(year*10000 + month*100 + date), true
}

// parseCount parses an integer: 12, -6, 1,234, 12.0.
func parseCount(field []byte) (int64, bool) {
	negative := false
	if len(field) > 0 && (field[0] == '-' || field[0] == '+') {
		negative = field[0] == '-'
		field = field[1:]
	}
	var n int64
	digits := 0
	for i, c := range field {
		switch {
		case c-'0' < 10 && digits < 15:
			n = n*10 + int64(c-'0')
			digits++
			continue
		case c == ',' && digits > 0 && i+1 < len(field):
			continue
		case c == '.' && digits > 0 && len(bytes.Trim(field[i+1:], "0")) == 0:
		default:
			return 0, false
		}
		break
	}
	if negative {
		n = -n
	}
	return n, digits > 0
}

// money removes the dollar sign and thousands separators from a price. It returns
// "" if the rest is not a number.
func money(text string) string {
	text = strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(text), "$"), ",", "")
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		return ""
	}
	return text
}

// parseLocation parses two forms of coordinates: "POINT (-93.6 41.6)" with the
// longitude first, and "an address\n(41.6, -93.6)" with the latitude first.
func parseLocation(text string) (lat, lon string, ok bool) {
	open, end := strings.LastIndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return "", "", false
	}
	both := strings.FieldsFunc(text[open+1:end], func(r rune) bool { return r == ' ' || r == ',' })
	if len(both) != 2 {
		return "", "", false
	}
	for _, v := range both {
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			return "", "", false
		}
	}
	if strings.HasPrefix(strings.TrimSpace(strings.ToUpper(text[:open])), "POINT") {
		return both[1], both[0], true
	}
	return both[0], both[1], true
}
