package textformat

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		Count(0): "0", Count(999): "999", Count(1000): "1,000", Count(3028076): "3,028,076", Count(-1234): "-1,234",
		Plural(1, "pass"): "1 pass", Plural(2, "pass"): "2 passes", Plural(1234, "row"): "1,234 rows",
		Ratio(math.NaN()): "-", Ratio(0.73456): "0.7346", Amount(123456): "123456", Amount(5.4321): "5.432", Amount(1e-9): "1.000e-09",
		Bytes(12): "12 B", Bytes(1536): "1.5 KiB", Bytes(3 << 30): "3.0 GiB", Bytes(5000 << 30): "5000.0 GiB",
		Duration(1500 * time.Millisecond): "2 s", Duration(200 * time.Second): "3 min 20 s", Duration(2*time.Hour + 61*time.Second): "2 h 1 min",
		Quote("a/b.csv"): "a/b.csv", Quote("store*item"): "'store*item'", Quote("it's"): `'it'\''s'`, Quote(""): "''",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Columns are aligned beside wide characters, accents of their own, and line breaks.
func TestTableOfOtherScripts(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	(&Table{Header: []string{"column", "kind"}, Rows: [][]string{{"店舗", "id"}, {"cafe\u0301", "id"}, {"unit\nprice", "number"}, {"매출", "number"}}, Left: 2}).Write(&b)
	const want = "column       kind\n店舗         id\ncafe\u0301         id\nunit\\nprice  number\n매출         number\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
