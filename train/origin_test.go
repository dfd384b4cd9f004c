package train

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
