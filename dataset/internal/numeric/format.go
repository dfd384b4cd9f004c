package numeric

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
)

// Format describes numbers that are written for people: with a decimal comma, with
// separators between thousands, with a sign of a currency or a percent sign. The zero
// value describes plain numbers, as Parse reads them.
type Format struct {
	Decimal   byte // '.' or ','; 0 is '.'
	Thousands byte // ',', '.', ' ', '\'' or '_'; 0 for none
}

// Plain reports whether the format is that of plain numbers.
func (f Format) Plain() bool { return f == Format{} }

// namedSigns are the names of separators in a specification.
var namedSigns = map[string]byte{"comma": ',', "point": '.', "space": ' ', "apostrophe": '\'', "underscore": '_'}

// ParseFormat reads the decimal sign (point or comma) and the separator of thousands
// (comma, point, space, apostrophe, underscore or none), each as a name or as the
// character. Two empty texts give the zero value. A decimal sign alone allows signs of
// currencies and percent signs.
func ParseFormat(decimal, thousands string) (f Format, field string, err error) {
	sign := func(text string) byte {
		if c, ok := namedSigns[text]; ok {
			return c
		}
		if len(text) == 1 {
			return text[0]
		}
		return 0
	}
	if decimal != "" {
		if f.Decimal = sign(decimal); f.Decimal != '.' && f.Decimal != ',' {
			return Format{}, "data.decimal", fmt.Errorf("%q cannot be a decimal sign; write point or comma", decimal)
		}
	}
	if thousands == "" || thousands == "none" {
		return f, "", nil
	}
	if f.Thousands = sign(thousands); f.Thousands == 0 || strings.IndexByte(",. '_", f.Thousands) < 0 {
		return Format{}, "data.thousands", fmt.Errorf("%q cannot separate thousands; write comma, point, space, apostrophe, underscore or none", thousands)
	}
	if f.Decimal == 0 { // the other sign
		f.Decimal = '.'
		if f.Thousands == '.' {
			f.Decimal = ','
		}
	}
	if f.Decimal == f.Thousands {
		return Format{}, "data.thousands", fmt.Errorf("%q is already the decimal sign; choose another separator of thousands", thousands)
	}
	return f, "", nil
}

// Texts returns the names from which ParseFormat makes the format.
func (f Format) Texts() (decimal, thousands string) {
	for name, c := range namedSigns {
		if c == f.Decimal {
			decimal = name
		}
		if c == f.Thousands {
			thousands = name
		}
	}
	return decimal, thousands
}

// Parse reads a trimmed field. It is Parse for plain numbers. Otherwise the number may
// have a sign of a currency before or behind it and a percent sign behind it, which do
// not change its value, and a negative number may be in parentheses. Groups of
// thousands must have three digits, so that 1,5 is not taken for 15.
func (f Format) Parse(b []byte) (float32, Kind) {
	if f.Plain() || isNaNText(b) || IsMissing(b) || StandsForMissing(b) {
		return Parse(b)
	}
	var buf [48]byte
	plain, ok := f.AppendPlain(buf[:0], b)
	if !ok {
		if kind := textOrInfinity(b); kind == Infinite {
			return 0, kind
		}
		return 0, Text
	}
	return Parse(plain)
}

// LimitSign returns the sign of a limit such as <0.5, ≤ 3 or >=100, '<' or '>', and 0 for any other text.
func (f Format) LimitSign(b []byte) byte {
	for _, prefix := range limitSigns {
		if number, ok := bytes.CutPrefix(b, []byte(prefix.text)); ok {
			if _, kind := f.Parse(trimSpace(number)); kind == Finite {
				return prefix.sign
			}
		}
	}
	return 0
}

// limitSigns are the texts before the number of a limit.
var limitSigns = []struct {
	text string
	sign byte
}{{"<=", '<'}, {"<", '<'}, {"\u2264", '<'}, {">=", '>'}, {">", '>'}, {"\u2265", '>'}}

// AppendPlain appends a number of the format as a plain number. It reports whether b
// is one.
func (f Format) AppendPlain(dst, b []byte) ([]byte, bool) {
	negative := false
	if len(b) > 2 && b[0] == '(' && b[len(b)-1] == ')' {
		negative, b = true, b[1:len(b)-1]
	}
	for changed := true; changed; { // -$5, $-5, 5 €-
		changed = false
		for _, minus := range [][]byte{[]byte("-"), []byte("\u2212"), []byte("+")} {
			if rest, ok := bytes.CutPrefix(b, minus); ok {
				if negative {
					return dst, false
				}
				negative, b, changed = minus[0] != '+', rest, true
			}
		}
		before := len(b)
		b = trimCurrency(b)
		changed = changed || len(b) < before
	}
	if rest, ok := bytes.CutSuffix(b, []byte("%")); ok {
		b = trimSpace(rest)
	}
	if len(b) == 0 || !fieldtext.IsDigit(b[0]) && b[0] != f.decimal() {
		return dst, false
	}
	if negative {
		dst = append(dst, '-')
	}
	dst, b, ok := f.appendWhole(dst, b)
	if !ok {
		return dst, false
	}
	if len(b) > 0 && b[0] == f.decimal() {
		dst, b = append(dst, '.'), b[1:]
	}
	for _, c := range b { // fraction and exponent; Parse checks their form
		if !fieldtext.IsDigit(c) && c|0x20 != 'e' && c != '-' && c != '+' {
			return dst, false
		}
	}
	return append(dst, b...), true
}

func (f Format) decimal() byte {
	if f.Decimal == 0 {
		return '.'
	}
	return f.Decimal
}

// appendWhole appends the digits before the decimal sign and returns what follows.
func (f Format) appendWhole(dst, b []byte) (out, rest []byte, ok bool) {
	group, groups := 0, 0
	zero := b[0] == '0' // 0,123 has no thousands
	for len(b) > 0 {
		if fieldtext.IsDigit(b[0]) {
			dst = append(dst, b[0])
			group++
			b = b[1:]
			continue
		}
		n := f.separator(b)
		if n == 0 {
			break
		}
		if zero || group == 0 || group > 3 || groups > 0 && group != 3 {
			return dst, b, false
		}
		groups++
		group, b = 0, b[n:]
	}
	return dst, b, groups == 0 || group == 3
}

// separator returns the length of the separator of thousands at the start of b, or 0.
func (f Format) separator(b []byte) int {
	switch {
	case f.Thousands == 0:
		return 0
	case b[0] == f.Thousands:
		return 1
	case f.Thousands == ' ':
		return spaceAt(b)
	case f.Thousands == '\'' && bytes.HasPrefix(b, []byte("\u2019")):
		return len("\u2019")
	}
	return 0
}

// spaceAt returns the length of the space at the start of b, or 0. Programs write
// spaces that do not break between thousands and before signs.
func spaceAt(b []byte) int {
	for _, space := range []string{" ", "\u00a0", "\u202f", "\u2009"} {
		if bytes.HasPrefix(b, []byte(space)) {
			return len(space)
		}
	}
	return 0
}

func trimSpace(b []byte) []byte {
	return bytes.Trim(b, " \u00a0\u202f\u2009")
}

// currencies are the signs and codes that may stand beside a number.
var currencies = [][]byte{[]byte("$"), []byte("€"), []byte("£"), []byte("¥"), []byte("₹"), []byte("₩"), []byte("₽"), []byte("₺"), []byte("zł"), []byte("kr"),
	[]byte("US$"), []byte("R$"), []byte("USD"), []byte("EUR"), []byte("GBP"), []byte("JPY"), []byte("CHF"), []byte("CAD"), []byte("AUD"), []byte("INR"), []byte("SEK"), []byte("PLN")}

// Money reports whether a text has the sign or code of a currency before or behind it, also behind a minus sign
// or within parentheses.
func Money(b []byte) bool {
	b = bytes.TrimLeft(bytes.Trim(trimSpace(b), "()"), "-+\u2212")
	return len(trimCurrency(b)) < len(trimSpace(b))
}

// trimCurrency removes a currency before or behind a number, with the space between.
func trimCurrency(b []byte) []byte {
	b = trimSpace(b)
	for _, c := range currencies {
		if rest, ok := bytes.CutPrefix(b, c); ok {
			return trimSpace(rest)
		}
		if rest, ok := bytes.CutSuffix(b, c); ok {
			return trimSpace(rest)
		}
	}
	return b
}
