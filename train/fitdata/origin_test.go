package fitdata

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/spec"
)

// yearsData reads two items with three years of months, or of running numbers.
func yearsData(t *testing.T, split string, numbers bool) *Data {
	t.Helper()
	var b strings.Builder
	b.WriteString("item,time,y\n")
	for i := range 2 {
		for m := range 36 {
			id := fmt.Sprintf("%d-%02d", 2020+m/12, m%12+1)
			if numbers {
				id = fmt.Sprint(m + 1)
			}
			fmt.Fprintf(&b, "i%d,%s,%d\n", i, id, m)
		}
	}
	s := spec.Spec{Version: 1, Split: split, Terms: []string{"item"}}
	s.Data = spec.Data{Target: "y", Modes: []string{"item", "time"}}
	s.Fill()
	d, err := Read(t.Context(), s, tableio.Reader("t.csv", strings.NewReader(b.String())), Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Two series of different lengths, which both begin with 1.
func TestOriginsOfOwnEnds(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("item,time,y\n")
	for i, n := range []int{30, 20} {
		for k := range n {
			fmt.Fprintf(&b, "i%d,%d,%d\n", i, k+1, k)
		}
	}
	for ends, want := range map[string]int{"": 3 + 3, "table": 3} {
		s := spec.Spec{Version: 1, Split: "time:last=3", Terms: []string{"item"}}
		s.Data = spec.Data{Target: "y", Modes: []string{"item", "time"}, Ends: ends}
		s.Fill()
		d, err := Read(t.Context(), s, tableio.Reader("t.csv", strings.NewReader(b.String())), Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		own, why := d.OwnEnds()
		if own != (ends == "") || own != (why != "") || d.LaterMode() != 1 || d.ValidPeriods() != 3 || d.Count(dataset.Valid) != want || d.Count(dataset.Test) != want {
			t.Errorf("%q: got own ends %v, %d validation periods with %d rows, %d test rows", ends, own, d.ValidPeriods(), d.Count(dataset.Valid), d.Count(dataset.Test))
		}
		earlier, err := d.Earlier(1)
		if err != nil || earlier == nil || earlier.Count(dataset.Valid) != want || earlier.Count(dataset.Test) != 0 {
			t.Fatalf("%q: got %+v, %v", ends, earlier, err)
		}
		line, err := d.timeline(1)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := d.Between(1, line.Steps(), 27, 29)
		if err != nil || len(rows.Y) != want || len(rows.Step) != want || rows.Step[len(rows.Step)-1] != 29 {
			t.Errorf("%q: the last three periods have the rows %v at %v, %v", ends, rows.Y, rows.Step, err)
		}
	}
}

func TestRecent(t *testing.T) {
	t.Parallel()
	d := yearsData(t, "time:last=3", false)
	recent, first, err := d.Recent(2)
	if err != nil || recent == nil {
		t.Fatalf("got %v, %v", recent, err)
	}
	// The validation months end in September 2022, the test months after them stay.
	if first != "2020-10" || recent.Count(dataset.Train) != 2*21 || recent.Count(dataset.Valid) != 2*3 || recent.Count(dataset.Test) != 2*3 || d.Count(dataset.Train) != 2*30 {
		t.Errorf("got %d training rows from %s on, %d validation and %d test rows", recent.Count(dataset.Train), first, recent.Count(dataset.Valid), recent.Count(dataset.Test))
	}
	for name, same := range map[string]*Data{"three years": d, "a random split": yearsData(t, "random:60/20/20", false), "running numbers": yearsData(t, "time:last=3", true)} {
		years := 2
		if same == d {
			years = 3
		}
		if recent, _, err := same.Recent(years); recent != nil || err != nil {
			t.Errorf("%s: got %v, %v, want all rows", name, recent, err)
		}
	}
}
