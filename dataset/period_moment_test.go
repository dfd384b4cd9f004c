package dataset

import (
	"testing"
	"time"
)

func TestMomentOfSixDigits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode string
		ids  []string
		want string // moment of the first id
	}{
		{"week", []string{"202101", "202113"}, "2021-01-04"},
		{"yearweek", []string{"202053", "202101"}, "2020-12-28"},
		{"month", []string{"202101", "202112"}, "2021-01-01"},
	} {
		m, err := ParseMode(c.mode)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := m.WithIDDates(c.ids).MomentOfID(c.ids[0]); !ok || got.Format(time.DateOnly) != c.want {
			t.Errorf("%s %q: got %v, %v, want %s", c.mode, c.ids, got, ok, c.want)
		}
	}
}
