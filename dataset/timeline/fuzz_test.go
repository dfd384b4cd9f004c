package timeline

import (
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// FuzzNew checks that no ids, which may come from a stranger's file, make a timeline panic
// or contradict itself.
func FuzzNew(f *testing.F) {
	for _, seed := range []string{"2015-1,2016-2", "2016-W52,2016-W01", "1,2,3,9", "2016Q1,2016Q2", "Jan 2016,Feb 2016", "1480550400,1480554000", "2016-12-31 23:00,2016-12-30 01:00",
		"98,99,00", "9223372036854775807,1", "0001-01-01,9999-12-31", "1e300,2e300", "-5,7", "31.12.2016,1.1.2017", "2/1/2016 9:00 PM,2/1/2016 10:00 PM", "d_1,d_2", "31/12/68,30/12/68", "01/02/22,01/03/22", "31-01-22,30-01-22", "2020-21-3,2020-21-4,2021-22-1", "20161231,20170101"} {
		for _, mode := range []string{"time", "time=year+month", "year", "time=date+hour", "yearweek(at)", "time=fy+quarter"} {
			f.Add(mode, seed)
		}
	}
	f.Fuzz(func(t *testing.T, text, joined string) {
		mode, err := dataset.ParseMode(text)
		if err != nil {
			return
		}
		ids := strings.Split(joined, ",")
		line, err := New(mode, ids)
		if err != nil {
			return
		}
		for i, id := range ids {
			if step, ok := line.Step(id); !ok || step != line.Steps()[i] && line.Regular() {
				t.Errorf("%s %q: id %q has step %d, %v, but is at step %d", text, ids, id, step, ok, line.Steps()[i])
			}
		}
		next, err := line.Next(3)
		for k, id := range next {
			if step, ok := line.Step(id); err == nil && (!ok || step != line.Last()+int64(k)+1) {
				t.Errorf("%s %q: the future id %q has step %d, %v", text, ids, id, step, ok)
			}
		}
		if _, err := line.Columns(line.Last() + 1); err == nil && !line.Regular() {
			t.Errorf("%s %q: a timeline that is not regular has a next period", text, ids)
		}
		line.Cycles()
	})
}
