package modeid

import (
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// record is a single row.
type record []string

func (r record) Field(_, c int) []byte { return []byte(r[c]) }

func (r record) Line(int) int { return 4 }

func TestEncoder(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		mode string
		row  record
		at   []int
		want int32
		err  string
	}{
		{"id", record{"a"}, []int{0}, 0, ""},
		{"id", record{"b"}, []int{0}, 1, ""},
		{"time=year+month", record{"x", "2", "2016"}, []int{2, 1}, 1, ""},
		{"hour(at)", record{"2016-12-31 07:30"}, []int{0}, 1, ""},
		{"id", record{""}, []int{0}, Refused, `line 4, column "id": the id is empty, so the row belongs to no cell; fill it in or remove the row`},
		{"time=year+month", record{"2016", ""}, []int{0, 1}, Refused, `line 4, column "month": the id is empty, so the row belongs to no cell; fill it in or remove the row`},
		{"month(dmy(at))", record{"31/01/22"}, []int{0}, 1, ""},
		{"month(at)", record{"31/01/22"}, []int{0}, Refused,
			`line 4, column "at", value "31/01/22": this is not a date or a time, which month(at) requires; if its parts are in the order dmy, write month(dmy(at))`},
		{"hour(at)", record{"noon"}, []int{0}, Refused,
			`line 4, column "at", value "noon": this is not a date or a time, which hour(at) requires; write unix seconds (or milliseconds), 2016-12-31, 2016-12-31 23:59 or 12/31/2016 (month first)`},
		{"time=date(at)", record{"Jan 31, 2022"}, []int{0}, Refused,
			`line 4, column "at", value "Jan 31, 2022": this is not a date or a time, which date(at) requires; time=at without a function reads it; or write unix seconds (or milliseconds), 2016-12-31, 2016-12-31 23:59 or 12/31/2016 (month first)`},
		{"date(at)", record{"31-Jan-22"}, []int{0}, Refused,
			`line 4, column "at", value "31-Jan-22": this is not a date or a time, which date(at) requires; at without a function reads it; or write unix seconds (or milliseconds), 2016-12-31, 2016-12-31 23:59 or 12/31/2016 (month first)`},
		{"month(at)", record{"Jan 31, 2022"}, []int{0}, Refused,
			`line 4, column "at", value "Jan 31, 2022": this is not a date or a time, which month(at) requires; at without a function reads it, and at.month is a part of it for terms; or write unix seconds (or milliseconds), 2016-12-31, 2016-12-31 23:59 or 12/31/2016 (month first)`},
		{"month(at)", record{"item 7"}, []int{0}, Refused,
			`line 4, column "at", value "item 7": this is not a date or a time, which month(at) requires; write unix seconds (or milliseconds), 2016-12-31, 2016-12-31 23:59 or 12/31/2016 (month first)`},
		{"date(at)", record{"noon"}, []int{0}, Refused,
			`line 4, column "at", value "noon": this is not a date or a time, which date(at) requires; write unix seconds (or milliseconds), 2016-12-31, 2016-12-31 23:59 or 12/31/2016 (month first)`},
	} {
		mode, err := dataset.ParseMode(tc.mode)
		if err != nil {
			t.Fatal(err)
		}
		dict := dataset.NewDict([]string{"a"})
		e := Adding(mode, dict)
		got := e.Derive(tc.row, 0, tc.at)
		if got != tc.want {
			t.Errorf("%s of %q: got code %d, want %d", tc.mode, tc.row, got, tc.want)
		}
		if got == Refused {
			if err := e.Report(tc.row, 0, tc.at, e.Problem); err.Error() != tc.err {
				t.Errorf("%s of %q: got error %v, want %s", tc.mode, tc.row, err, tc.err)
			}
		}
		fixed := Fixed(mode, dataset.NewDict([]string{"z"}))
		if got := fixed.Derive(tc.row, 0, tc.at); got != Unknown && got != Refused {
			t.Errorf("%s of %q: a fixed dictionary gives code %d, want none", tc.mode, tc.row, got)
		}
	}
}
