package calendar

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Decimal years that are plausible.
const firstDecimal, lastDecimal = 1500, 2200

// exactDecimals is the number of decimals from which those of a float64 may be off in the last places.
const exactDecimals = 7

// parseDecimal reads a year with a fraction that counts its months, rounded or cut off at any number of decimals from
// two on: 1973.083 is February 1973. Months that need one decimal are January and July.
func parseDecimal(b []byte) (time.Time, bool) {
	year, decimals, _ := strings.Cut(string(b), ".")
	n, err := strconv.Atoi(year)
	if err != nil || len(year) != 4 || n < firstDecimal || n > lastDecimal {
		return time.Time{}, false
	}
	fraction, err := strconv.ParseFloat("0."+decimals+"0", 64)
	if err != nil || strings.Trim(decimals, "0123456789") != "" {
		return time.Time{}, false
	}
	month := int(math.Round(12 * fraction))
	unit := math.Pow10(-min(len(decimals), exactDecimals))
	off := fraction - float64(month)/12
	const slack = 1e-9
	short := len(decimals) < 2
	if off > unit/2+slack || off < -unit || short && math.Abs(off) > slack {
		return time.Time{}, false
	}
	return time.Date(n, time.Month(1+month), 1, 0, 0, 0, 0, time.UTC), true
}

// fewDecimals is the number of periods below which numbers are not taken for decimal years.
const fewDecimals = 8

// AreDecimalYears reports whether texts are years with fractions that count months or quarters, without many gaps.
func AreDecimalYears(texts []string) bool {
	var months []int
	fractions := false
	for _, text := range texts {
		t, ok := parseDecimal([]byte(text))
		if !ok {
			return false
		}
		months = append(months, 12*t.Year()+int(t.Month()))
		fractions = fractions || t.Month() != time.January
	}
	slices.Sort(months)
	if months = slices.Compact(months); len(months) < fewDecimals || !fractions {
		return false
	}
	step := 12 // months between periods
	for slices.ContainsFunc(months, func(m int) bool { return (m-months[0])%step != 0 }) {
		step--
	}
	return 2*step*len(months) >= months[len(months)-1]-months[0]
}

// A decimalLayout writes decimal years.
type decimalLayout struct {
	places int
	fixed  bool // zeros at the end are written
	cut    bool // instead of rounded
}

// decimalLayoutOf returns the layout of texts that are decimal years.
func decimalLayoutOf(texts []string) *decimalLayout {
	d := &decimalLayout{fixed: true}
	for _, text := range texts {
		_, decimals, _ := strings.Cut(text, ".")
		d.fixed = d.fixed && (d.places == 0 || d.places == len(decimals)) && decimals != ""
		d.places = max(d.places, len(decimals))
	}
	for _, text := range texts {
		t, _ := parseDecimal([]byte(text))
		d.cut = d.cut || d.format(t) != text && (&decimalLayout{d.places, d.fixed, true}).format(t) == text
	}
	return d
}

func (d *decimalLayout) format(t time.Time) string {
	fraction := float64(t.Month()-1) / 12
	if d.cut {
		scale := math.Pow10(d.places)
		fraction = math.Floor(fraction*scale+1e-6) / scale
	}
	text := strconv.FormatFloat(float64(t.Year())+fraction, 'f', d.places, 64)
	if !d.fixed && strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
