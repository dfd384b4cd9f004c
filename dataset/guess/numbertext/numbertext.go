// Package numbertext finds how the numbers of a column are written, from its distinct texts.
package numbertext

import (
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/numeric"
)

// Formats are the ways to write numbers that are recognised. A decimal point without
// separators stands for plain numbers with signs of currencies or percent signs.
var Formats = []dataset.NumberFormat{
	{Decimal: '.'}, {Decimal: '.', Thousands: ','}, {Decimal: ','}, {Decimal: ',', Thousands: '.'},
	{Decimal: '.', Thousands: ' '}, {Decimal: ',', Thousands: ' '}, {Decimal: '.', Thousands: '\''}, {Decimal: '.', Thousands: '_'},
}

// A Fit is a format that reads the texts of a column, and the rows that it reads.
type Fit struct {
	Format dataset.NumberFormat
	Rows   int
}

// Fits returns the formats that read all texts of a column, except for a few. counts are the rows of
// each text. It returns none for plain numbers. ambiguous reports that two formats read different
// numbers: 1,234 alone may be both. If id is set, the column has the name of an id, which may have points
// of its own.
func Fits(texts []string, counts []int, id bool) (fits []Fit, ambiguous bool) {
	grouped := groupSign(texts)
	if Plain(texts) && (id || grouped != '.' || !pointsFromThousand(texts)) {
		return nil, false
	}
	for _, f := range Formats {
		if n, ok := reads(f, texts, counts); ok && f.Decimal != grouped {
			fits = append(fits, Fit{f, n})
		}
	}
	return fits, !agree(fits, texts)
}

// reads reports whether a format reads every text, except for a few and for limits such as <0,5, and
// how many rows it reads.
func reads(f dataset.NumberFormat, texts []string, counts []int) (rows int, ok bool) {
	bad := 0
	for code, text := range texts {
		switch _, kind := f.Parse([]byte(text)); kind {
		case numeric.Finite:
			rows += counts[code]
		case numeric.Text, numeric.Infinite:
			if f.LimitSign([]byte(text)) == 0 {
				bad += counts[code]
			}
		}
	}
	return rows, rows > 0 && bad <= max(3, (rows+bad)/20) && bad*10 <= rows
}

// groupSign returns the comma or point that can only separate thousands, 0 if there is none: three
// digits follow it everywhere, but amounts of money do not have three decimal places, and numbers
// that have them need it for almost all values.
func groupSign(texts []string) byte {
	for _, sign := range []byte{',', '.'} {
		with, without, money := 0, 0, true
		for _, text := range texts {
			if dataset.MissingNumber(text) {
				continue
			}
			money = money && numeric.Money([]byte(text))
			at := strings.IndexByte(text, sign)
			if at < 0 {
				without++
				continue
			}
			digits := 0
			for at+1+digits < len(text) && text[at+1+digits] >= '0' && text[at+1+digits] <= '9' {
				digits++
			}
			if at == 0 || text[at-1] < '0' || text[at-1] > '9' || text[at-1] == '0' && (at == 1 || text[at-2] < '0' || text[at-2] > '9') || digits != 3 {
				with = -1
				break
			}
			with++
		}
		if with > 0 && (money || with >= 20 && 20*without >= with) {
			return sign
		}
	}
	return 0
}

// pointsFromThousand reports whether plain numbers have a point only if it may separate their thousands, as
// 12.345 and 433 do: those without it, of which there are several, are below 1000. One alone may stand for a
// missing value.
func pointsFromThousand(texts []string) bool {
	below := 0
	for _, text := range texts {
		v, ok := dataset.Number(text)
		if !ok || strings.Contains(text, ".") {
			continue
		}
		if v <= -1000 || v >= 1000 || strings.ContainsAny(text, "eE") {
			return false
		}
		below++
	}
	return below >= 3
}

// agree reports whether all formats read the same numbers.
func agree(fits []Fit, texts []string) bool {
	if len(fits) == 0 {
		return true
	}
	for _, text := range texts {
		first, kind := fits[0].Format.Parse([]byte(text))
		for _, f := range fits[1:] {
			if v, k := f.Format.Parse([]byte(text)); kind == numeric.Finite && k == numeric.Finite && v != first {
				return false
			}
		}
	}
	return true
}

// Plain reports whether every text is a plain number.
func Plain(texts []string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool {
		_, ok := dataset.Number(text)
		return !ok && !dataset.MissingNumber(text)
	})
}

// ReadsAlike reports whether every text means the same in a format as it does as a plain number.
func ReadsAlike(f dataset.NumberFormat, texts []string) bool {
	for _, text := range texts {
		written, _ := f.Parse([]byte(text))
		if plain, kind := numeric.Parse([]byte(text)); kind == numeric.Finite && plain != written {
			return false
		}
	}
	return true
}

// Exact reads a number in float64.
func Exact(f dataset.NumberFormat, text string) float64 {
	if !f.Plain() {
		if plain, ok := f.AppendPlain(nil, []byte(text)); ok {
			text = string(plain)
		}
	}
	v, _ := dataset.Number(text)
	return v
}
