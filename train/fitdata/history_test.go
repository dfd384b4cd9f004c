package fitdata

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/spec"
)

// lagData reads two series of twelve months with lags, of which the values after the
// eighth month are multiplied by a factor.
func lagData(t testing.TB, split string, factor float64) *Data {
	t.Helper()
	var b strings.Builder
	b.WriteString("item,month,y\n")
	for i := range 2 {
		for m := range 12 {
			y := float64(10*i + m + 1)
			if m >= 8 {
				y *= factor
			}
			fmt.Fprintf(&b, "i%d,2020-%02d,%g\n", i, m+1, y)
		}
	}
	s := spec.Spec{Version: 1, Split: split, Terms: []string{"item", "lag1", "lag3"}}
	s.Data = spec.Data{Target: "y", Modes: []string{"item", "month"}, Lags: []string{"1", "3"}}
	s.Fill()
	d, err := Read(t.Context(), s, tableio.Reader("t.csv", strings.NewReader(b.String())), Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// lagOf returns the id of a lag of item 0 in a month.
func lagOf(d *Data, mode, month int) string {
	return d.table.Dicts[mode].ID(d.table.Codes[mode][month-1])
}

// TestOriginKnowsNoLaterRow checks that lags at an origin do not depend on rows after it,
// although the data were read with all of them.
func TestOriginKnowsNoLaterRow(t *testing.T) {
	t.Parallel()
	at := func(factor float64) *Data {
		d := lagData(t, "random:100/0/0", factor)
		steps := make([]int64, 12)
		for i := range steps {
			steps[i] = int64(i)
		}
		origin, err := d.At(1, steps, 7, 2, 0)
		if err != nil {
			t.Fatal(err)
		}
		return origin
	}
	a, b := at(1), at(100)
	for mode := 2; mode <= 3; mode++ {
		for month := 1; month <= 12; month++ {
			if x, y := lagOf(a, mode, month), lagOf(b, mode, month); x != y {
				t.Errorf("mode %d, month %d: %s and %s", mode, month, x, y)
			}
		}
	}
	if got := lagOf(a, 2, 9); got != dataset.MissingID {
		t.Errorf("lag1 three months after the training set is %s", got)
	}
	if got := lagOf(a, 3, 9); got != "6" {
		t.Errorf("lag3 three months after the training set is %s", got)
	}
}

// TestHiddenLags checks that training rows have the lags that rows of the validation and
// test set have: those that are known so many periods ahead.
func TestHiddenLags(t *testing.T) {
	t.Parallel()
	d := lagData(t, "time:last=2", 1)
	if d.ahead != 4 {
		t.Fatalf("the farthest row is %d periods ahead", d.ahead)
	}
	var hidden [2]int
	for k, p := range d.split.Parts {
		month := k%12 + 1
		for i, lag := range []int{1, 3} {
			id := d.table.Dicts[2+i].ID(d.table.Codes[2+i][k])
			switch {
			case p == dataset.Train && month > lag && id == dataset.MissingID:
				hidden[i]++
			case p != dataset.Train && (month-lag > 8) != (id == dataset.MissingID):
				t.Errorf("lag %d of month %d is %s", lag, month, id)
			}
		}
	}
	// One of four numbers of periods ahead allows lag1, three allow lag3.
	if hidden[0] < 6 || hidden[1] > 6 || hidden[0] <= hidden[1] {
		t.Errorf("%v lags of training rows are hidden", hidden)
	}
}
