package calendar

import (
	"slices"
	"strings"
	"testing"
)

func TestAreDecimalYears(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, texts string
		want        bool
	}{
		{"months as R writes them", "1973 1973.083 1973.167 1973.25 1973.333 1973.417 1973.5 1973.583 1973.667 1973.75", true},
		{"cut off", "1973.083 1973.166 1973.250 1973.333 1973.416 1973.500 1973.583 1973.666 1973.750", true},
		{"two decimals", "1973.00 1973.08 1973.17 1973.25 1973.33 1973.42 1973.50 1973.58", true},
		{"all digits of a float", "1973.0833333333333 1973.1666666666667 1973.25 1973.3333333333333 1973.4166666666667 1973.5 1973.5833333333333 1973.6666666666667", true},
		{"quarters", "1973.25 1973.5 1973.75 1974 1974.25 1974.5 1974.75 1975", true},
		{"half years", "1973 1973.5 1974 1974.5 1975 1975.5 1976 1976.5", true},
		{"years", "1973 1974 1975 1976 1977 1978 1979 1980", false},
		{"few", "1973.25 1973.5 1973.75 1974", false},
		{"prices", "1999.99 1899.99 1749.95 1999.00 1650.50 1799.99 1899.00 1999.50 2049.99", false},
		{"prices in quarters, with gaps", "1550.25 1625.5 1700.75 1801 1850.25 1999.5 2050.75 2100", false},
		{"middles of months", "1958.2027 1958.2877 1958.3699 1958.4548 1958.5370 1958.6219 1958.7068 1958.7890", false},
		{"month behind the year", "2016.01 2016.02 2016.03 2016.04 2016.05 2016.06 2016.07 2016.08", false},
		{"small", "1.083 1.167 1.25 1.333 1.417 1.5 1.583 1.667", false},
		{"signs", "1973.+83 1973.-16 1973.2e1 -1973.3 1973.. 1973.x NaN 1e999", false},
	} {
		texts := strings.Fields(c.texts)
		if got := AreDecimalYears(texts); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
		if !c.want {
			continue
		}
		layout, ok := LayoutOf(texts, Decimal)
		if !ok {
			t.Fatalf("%s: no layout", c.name)
		}
		var written []string
		for _, text := range texts {
			at, _ := Decimal.Parse([]byte(text))
			written = append(written, layout.Format(at))
		}
		if !slices.Equal(written, texts) && c.name != "all digits of a float" {
			t.Errorf("%s: written as %v", c.name, written)
		}
	}
	for text, want := range map[string]string{"1973.083": "1973-02", "1973.917": "1973-12", "1973.9": "", "1973.99": "", "1973": "1973-01", "1973.": "1973-01", "197": "", "12345.25": "", "": "", ".25": ""} {
		got, ok := Decimal.Parse([]byte(text))
		if ok != (want != "") || ok && got.Format("2006-01") != want {
			t.Errorf("%q: got %v, %v, want %q", text, got, ok, want)
		}
	}
}
