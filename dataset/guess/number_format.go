package guess

import (
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/numeric"
)

// numberFormat returns the format of the table's numbers: the first of those that read
// the most columns which are not plain numbers, and of these columns the most rows. A column that two formats read as
// different numbers decides nothing: 1,234 alone may be both.
func (g *guesser) numberFormat() dataset.NumberFormat {
	if !g.given.Numbers.Plain() {
		return g.given.Numbers
	}
	votes := map[dataset.NumberFormat]int{}
	reads := map[dataset.NumberFormat]int{} // rows that a format reads
	for _, c := range g.columns {
		if c.plainOnly() {
			continue
		}
		var fits []dataset.NumberFormat
		var rows []int
		for _, f := range formats {
			if n, ok := c.fits(f); ok {
				fits, rows = append(fits, f), append(rows, n)
			}
		}
		grouped := c.groupSign()
		for i := len(fits) - 1; i >= 0 && grouped != 0; i-- {
			if fits[i].Decimal == grouped {
				fits, rows = slices.Delete(fits, i, i+1), slices.Delete(rows, i, i+1)
			}
		}
		c.ambiguous = !c.agree(fits)
		if !c.ambiguous {
			for i, f := range fits {
				votes[f]++
				reads[f] += rows[i]
			}
		}
	}
	best := dataset.NumberFormat{}
	for _, f := range formats { // in order, so that ties do not depend on the map
		if votes[f] > votes[best] || votes[f] == votes[best] && reads[f] > reads[best] {
			best = f
		}
	}
	return best
}

// formats are the ways to write numbers that are recognised. A decimal point without
// separators stands for plain numbers with signs of currencies or percent signs.
var formats = []dataset.NumberFormat{
	{Decimal: '.'}, {Decimal: '.', Thousands: ','}, {Decimal: ','}, {Decimal: ',', Thousands: '.'},
	{Decimal: '.', Thousands: ' '}, {Decimal: ',', Thousands: ' '}, {Decimal: '.', Thousands: '\''}, {Decimal: '.', Thousands: '_'},
}

// fits reports whether a format reads every value, except for a few and for limits such as <0,5, and
// how many rows it reads.
func (c *sampleColumn) fits(f dataset.NumberFormat) (read int, ok bool) {
	bad := 0
	for code, value := range c.values {
		switch _, kind := f.Parse([]byte(value)); kind {
		case numeric.Finite:
			read += c.counts[code]
		case numeric.Text, numeric.Infinite:
			if f.LimitSign([]byte(value)) == 0 {
				bad += c.counts[code]
			}
		}
	}
	return read, read > 0 && bad <= max(3, (read+bad)/20) && bad*10 <= read
}

// groupSign returns the comma or point that can only separate thousands, 0 if there is none: three
// digits follow it everywhere, but amounts of money do not have three decimal places, and numbers
// that have them need it for almost all values.
func (c *sampleColumn) groupSign() byte {
	for _, sign := range []byte{',', '.'} {
		with, without, money := 0, 0, true
		for _, value := range c.values {
			if dataset.MissingNumber(value) {
				continue
			}
			money = money && numeric.Money([]byte(value))
			at := strings.IndexByte(value, sign)
			if at < 0 {
				without++
				continue
			}
			digits := 0
			for at+1+digits < len(value) && value[at+1+digits] >= '0' && value[at+1+digits] <= '9' {
				digits++
			}
			if at == 0 || value[at-1] < '0' || value[at-1] > '9' || value[at-1] == '0' && (at == 1 || value[at-2] < '0' || value[at-2] > '9') || digits != 3 {
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

// agree reports whether all formats read the same numbers.
func (c *sampleColumn) agree(fits []dataset.NumberFormat) bool {
	if len(fits) == 0 {
		return true
	}
	for _, value := range c.values {
		first, kind := fits[0].Parse([]byte(value))
		for _, f := range fits[1:] {
			if v, k := f.Parse([]byte(value)); kind == numeric.Finite && k == numeric.Finite && v != first {
				return false
			}
		}
	}
	return true
}

// plainOnly reports whether every value is a plain number.
func (c *sampleColumn) plainOnly() bool {
	for _, value := range c.values {
		if _, ok := dataset.Number(value); !ok && !dataset.MissingNumber(value) {
			return false
		}
	}
	return true
}

// readsAlike reports whether every value means the same as a plain number.
func (c *sampleColumn) readsAlike() bool {
	for _, value := range c.values {
		written, _ := c.Numbers.Parse([]byte(value))
		if plain, kind := numeric.Parse([]byte(value)); kind == numeric.Finite && plain != written {
			return false
		}
	}
	return true
}

// exact reads a number in float64.
func exact(f dataset.NumberFormat, value string) float64 {
	if !f.Plain() {
		if plain, ok := f.AppendPlain(nil, []byte(value)); ok {
			value = string(plain)
		}
	}
	v, _ := dataset.Number(value)
	return v
}
