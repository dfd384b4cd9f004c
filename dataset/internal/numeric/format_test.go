package numeric

import "testing"

func TestFormat(t *testing.T) {
	t.Parallel()
	german, english, swiss, french, point := Format{',', '.'}, Format{'.', ','}, Format{'.', '\''}, Format{',', ' '}, Format{Decimal: '.'}
	for _, tc := range []struct {
		format Format
		text   string
		want   float32
		kind   Kind
	}{
		{german, "1.234,56", 1234.56, Finite}, {german, "-1.234.567", -1234567, Finite}, {german, "1234,5", 1234.5, Finite}, {german, ",5", .5, Finite},
		{german, "1.234,56 €", 1234.56, Finite}, {german, "1,5E+03", 1500, Finite}, {german, "12.5", 0, Text}, {german, "1.23.456", 0, Text}, {german, "1234.567", 0, Text},
		{german, "1,2,3", 0, Text}, {german, "", 0, Missing}, {german, "NA", 0, Missing}, {german, "NaN", 0, NaN}, {german, "inf", 0, Infinite}, {german, "x", 0, Text},
		{english, "$1,234.50", 1234.5, Finite}, {english, "-$5", -5, Finite}, {english, "$-5", -5, Finite}, {english, "($1,200)", -1200, Finite}, {english, "12 %", 12, Finite},
		{english, "USD 7", 7, Finite}, {english, "1,5", 0, Text}, {english, "0,123", 0, Text}, {english, "0.5", .5, Finite}, {english, "--5", 0, Text}, {english, "$", 0, Text}, {english, "%", 0, Text}, {english, "5 apples", 0, Text},
		{swiss, "1'234.5", 1234.5, Finite}, {swiss, "CHF 1’234.5", 1234.5, Finite}, {french, "1\u202f234,5 €", 1234.5, Finite}, {french, "1 234", 1234, Finite}, {french, "1 23", 0, Text},
		{point, "12.5%", 12.5, Finite}, {point, "1,234", 0, Text}, {Format{}, "1,5", 0, Text}, {Format{}, "1.5", 1.5, Finite},
	} {
		got, kind := tc.format.Parse([]byte(tc.text))
		if kind != tc.kind || kind == Finite && got != tc.want {
			t.Errorf("%q read with %q: got %v, kind %d; want %v, kind %d", tc.text, tc.format, got, kind, tc.want, tc.kind)
		}
	}
}

func TestParseFormat(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		decimal, thousands string
		want               Format
		field              string
	}{
		{"", "", Format{}, ""}, {"comma", "", Format{Decimal: ','}, ""}, {",", ".", Format{',', '.'}, ""}, {"", "point", Format{',', '.'}, ""}, {"", ",", Format{'.', ','}, ""},
		{"point", "none", Format{Decimal: '.'}, ""}, {".", "space", Format{'.', ' '}, ""},
		{";", "", Format{}, "data.decimal"}, {"comma", "comma", Format{}, "data.thousands"}, {"", "x", Format{}, "data.thousands"}, {"", "blank", Format{}, "data.thousands"},
	} {
		got, field, err := ParseFormat(tc.decimal, tc.thousands)
		if got != tc.want || field != tc.field || (err != nil) != (tc.field != "") {
			t.Errorf("ParseFormat(%q, %q) = %q, %q, %v; want %q, %q", tc.decimal, tc.thousands, got, field, err, tc.want, tc.field)
		}
		if err == nil {
			decimal, thousands := got.Texts()
			if again, _, err := ParseFormat(decimal, thousands); err != nil || again != got {
				t.Errorf("%q is written as %q, %q, which is read as %q, %v", got, decimal, thousands, again, err)
			}
		}
	}
}

func FuzzFormat(f *testing.F) {
	f.Add("1.234,56 €", byte(','), byte('.'))
	f.Add("(1'2)", byte('.'), byte('\''))
	f.Fuzz(func(t *testing.T, text string, decimal, thousands byte) {
		format := Format{Decimal: decimal, Thousands: thousands}
		if v, kind := format.Parse([]byte(text)); kind == Finite && v != v {
			t.Errorf("%q is a finite number and NaN", text)
		}
	})
}
