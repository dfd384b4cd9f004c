package numbertext

import (
	"fmt"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// Points in plain numbers separate thousands only if nothing contradicts it.
func TestFitsOfPlainNumbers(t *testing.T) {
	t.Parallel()
	german := dataset.NumberFormat{Decimal: ',', Thousands: '.'}
	var grouped []string
	for i := range 40 {
		grouped = append(grouped, fmt.Sprintf("%d.%03d", 1+i, 37*i%1000))
	}
	for name, c := range map[string]struct {
		more []string
		id   bool
		want []dataset.NumberFormat
	}{
		"all with three decimal places":         {nil, false, nil},
		"numbers below 1000":                    {[]string{"433", "-7", "0", ""}, false, []dataset.NumberFormat{german}},
		"one that may stand for a missing one":  {[]string{"999"}, false, nil},
		"one without the separator it needs":    {[]string{"433", "7", "12", "1500"}, false, nil},
		"two decimal places":                    {[]string{"433", "7", "12", "1.25"}, false, nil},
		"numbers below 1 with three places":     {[]string{"433", "7", "12", "0.125"}, false, nil},
		"ids such as accounts and their groups": {[]string{"433", "7", "12"}, true, nil},
	} {
		texts := append(append([]string{}, grouped...), c.more...)
		counts := make([]int, len(texts))
		for i := range counts {
			counts[i] = 1
		}
		fits, ambiguous := Fits(texts, counts, c.id)
		var got []dataset.NumberFormat
		for _, f := range fits {
			got = append(got, f.Format)
		}
		if ambiguous || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %v (ambiguous %t), want %v", name, got, ambiguous, c.want)
		}
	}
}
