package dataset

import (
	"slices"
	"strconv"
	"time"
)

// dateFormats are the usual ways to write dates, months and moments, with the words that
// users know them by. A format with leading zeros comes before the one without.
var dateFormats = []struct{ layout, name string }{
	{"2006-01-02", "yyyy-mm-dd"}, {"2006-1-2", "yyyy-m-d"},
	{"2006/01/02", "yyyy/mm/dd"}, {"2006/1/2", "yyyy/m/d"},
	{"2006.01.02", "yyyy.mm.dd"}, {"20060102", "yyyymmdd"},
	{"02.01.2006", "dd.mm.yyyy"}, {"2.1.2006", "d.m.yyyy"}, {"02.01.06", "dd.mm.yy"},
	{"01/02/2006", "mm/dd/yyyy"}, {"1/2/2006", "m/d/yyyy"}, {"01/02/06", "mm/dd/yy"}, {"1/2/06", "m/d/yy"},
	{"02/01/2006", "dd/mm/yyyy"}, {"2/1/2006", "d/m/yyyy"}, {"02/01/06", "dd/mm/yy"}, {"2/1/06", "d/m/yy"},
	{"02-01-2006", "dd-mm-yyyy"}, {"01-02-2006", "mm-dd-yyyy"}, {"2-Jan-2006", "d-Mon-yyyy"}, {"02-Jan-2006", "dd-Mon-yyyy"},
	{"2006-01", "yyyy-mm"}, {"2006-1", "yyyy-m"}, {"2006/01", "yyyy/mm"}, {"2006/1", "yyyy/m"}, {"200601", "yyyymm"},
	{"01/2006", "mm/yyyy"}, {"1/2006", "m/yyyy"}, {"01.2006", "mm.yyyy"}, {"01-2006", "mm-yyyy"}, {"1-2006", "m-yyyy"},
	{"Jan 2006", "Mon yyyy"}, {"January 2006", "Month yyyy"}, {"2006 Jan", "yyyy Mon"}, {"2006-Jan", "yyyy-Mon"}, {"Jan-2006", "Mon-yyyy"},
	{"2006-01-02 15:04:05", "yyyy-mm-dd hh:mm:ss"}, {"2006-01-02 15:04", "yyyy-mm-dd hh:mm"}, {"2006-01-02 15", "yyyy-mm-dd hh"},
	{"2006-01-02T15:04:05", "yyyy-mm-ddThh:mm:ss"}, {"2006-01-02T15:04", "yyyy-mm-ddThh:mm"}, {"2006-01-02T15:04:05Z07:00", "yyyy-mm-ddThh:mm:ss with time zone"},
	{"02.01.2006 15:04", "dd.mm.yyyy hh:mm"}, {"01/02/2006 15:04", "mm/dd/yyyy hh:mm"}, {"1/2/2006 15:04", "m/d/yyyy hh:mm"},
}

const unixSeconds = "unix seconds"

// DateFormats returns the names of the date formats that all ids are written in, such as
// yyyy-mm-dd: none if they are not dates, more than one if the ids do not tell them
// apart, as 01/02/2016 does not.
func DateFormats(ids []string) []string {
	if len(ids) == 0 {
		return nil
	}
	var names []string
	for _, f := range dateFormats {
		if !slices.ContainsFunc(ids, func(id string) bool { return !writtenAs(id, f.layout) }) {
			names = append(names, f.name)
		}
	}
	if !slices.ContainsFunc(ids, func(id string) bool { return !isUnixSeconds(id) }) {
		names = append(names, unixSeconds)
	}
	return names
}

// Numbers are dates only if their year is plausible, because ids are numbers as well.
const firstYear, lastYear = 1900, 2100

// writtenAs reports whether a text is a date in exactly this layout; package time also
// reads 01 where the layout has 1.
func writtenAs(text, layout string) bool {
	t, err := time.Parse(layout, text)
	return err == nil && t.Year() >= firstYear && t.Year() <= lastYear && t.Format(layout) == text
}

func isUnixSeconds(text string) bool {
	v, err := strconv.ParseInt(text, 10, 64)
	return err == nil && len(text) == 10 && v > 0
}
