package dataset

import (
	"bytes"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/wholeid"
)

// WholeID returns the id 12 for 12.0, as programs write whole numbers of a column in which a value
// is missing, and other ids as they are.
func WholeID(id []byte) []byte { return wholeid.Of(id) }

// Alike returns the code of the id that is the same whole number as an unknown id: that of 12 for 12.0, and the other way round.
func (d *Dict) Alike(id []byte) (int32, bool) {
	if whole := WholeID(id); len(whole) < len(id) {
		if code, ok := d.Code(whole); ok {
			return code, true
		}
		id = whole
	}
	if !wholeid.Is(id) {
		return 0, false
	}
	return d.Code(append(append(make([]byte, 0, len(id)+2), id...), ".0"...))
}

// Meant returns the code of the id that an unknown id stands for in a table to predict or a
// request: the same whole number, see Alike, the same month or week of a year, 2016-5 for 2016-05
// and the other way round, the same moment, 2024-01-31 for 2024-01-31T00:00:00, or the same truth
// value, True for 1.
func (d *Dict) Meant(id []byte) (int32, bool) {
	if code, ok := d.Alike(id); ok {
		return code, true
	}
	if code, ok := d.sameTruth(id); ok {
		return code, true
	}
	if code, ok := d.sameMoment(id); ok {
		return code, true
	}
	const year = 4
	if len(id) < year+2 || len(id) > year+3 || id[year] != '-' || !wholeid.Is(id[:year]) {
		return 0, false
	}
	within := id[year+1:]
	if len(within) == 2 && within[0] != '0' || within[len(within)-1] < '0' || within[len(within)-1] > '9' {
		return 0, false
	}
	other := append(make([]byte, 0, len(id)+1), id[:year+1]...)
	if len(within) == 1 {
		other = append(other, '0')
	}
	return d.Code(append(other, within[len(within)-1]))
}

// sameTruth returns the code of the id with the truth value of an id. There is one if the
// dictionary has one word for yes, one for no, and at most missing values besides.
func (d *Dict) sameTruth(id []byte) (int32, bool) {
	value, ok := truth(string(id))
	if !ok || len(d.ids) > 3 {
		return 0, false
	}
	found, codes := [2]bool{}, [2]int32{}
	for code, known := range d.ids {
		if known == MissingID {
			continue
		}
		v, ok := truth(known)
		if !ok || found[v] {
			return 0, false
		}
		found[v], codes[v] = true, int32(code)
	}
	return codes[value], found[0] && found[1]
}

// truth returns 1 for a word that means yes and 0 for one that means no.
func truth(word string) (value int, ok bool) {
	if len(word) > len("false") {
		return 0, false
	}
	switch strings.ToLower(word) {
	case "true", "t", "yes", "y", "1", "1.0":
		return 1, true
	case "false", "f", "no", "n", "0", "0.0":
		return 0, true
	}
	return 0, false
}

// sameMoment returns the code of the id that is the same moment as an id: times with a T or a space
// after the date, with or without zero seconds, and dates at midnight, with or without the time.
func (d *Dict) sameMoment(id []byte) (int32, bool) {
	const date = len("2006-01-02")
	if len(id) < date || id[4] != '-' || id[7] != '-' || len(id) > date && id[date] != 'T' && id[date] != ' ' {
		return 0, false
	}
	day, clock := id[:date], []byte("00:00")
	if len(id) > date {
		clock = id[date+1:]
		if point := bytes.IndexByte(clock, '.'); point >= 0 && len(bytes.Trim(clock[point+1:], "0")) == 0 {
			clock = clock[:point]
		}
		if len(clock) == len("15:04:05") {
			clock = bytes.TrimSuffix(clock, []byte(":00"))
		}
	}
	if bytes.Equal(clock, []byte("00:00")) {
		if code, ok := d.Code(day); ok {
			return code, true
		}
	}
	for _, sign := range []string{" ", "T"} {
		for _, end := range []string{"", ":00"} {
			if code, ok := d.Code(slices.Concat(day, []byte(sign), clock, []byte(end))); ok {
				return code, true
			}
		}
	}
	return 0, false
}
