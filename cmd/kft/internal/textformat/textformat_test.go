package textformat

import (
	"math"
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
