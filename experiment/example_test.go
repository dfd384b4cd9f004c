package experiment_test

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/kernel-fried-tensor/kft/experiment"
)

// Two configurations on three splits: their difference varies less than their scores.
func ExampleSummarize() {
	var r experiment.Results
	for i, pair := range [][2]string{{"0.70", "0.71"}, {"0.75", "0.77"}, {"0.66", "0.67"}} {
		for k, name := range []string{"old", "new"} {
			r.Cells = append(r.Cells, experiment.Cell{Configuration: name, Split: i + 1, Test: experiment.Measures{"r2": json.RawMessage(pair[k])},
				Usage: experiment.Usage{Seconds: 10, CPU: 20, PeakRSS: 100 << 20}})
		}
	}
	s, err := experiment.Summarize(r, []string{"r2"}, "old")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := s.Write(os.Stdout, "text"); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Mean and standard deviation over 3 splits
	//
	// configuration               R2  s per fit  s in all  CPU s  MiB
	// new            0.7167 ± 0.0503       10.0      30.0   60.0  100
	// old            0.7033 ± 0.0451       10.0      30.0   60.0  100
	//
	// Minus old, on the same splits: mean difference, its standard error SE, and the difference in units of SE; better or worse if it exceeds 2 SE
	//
	// configuration  measure  difference       SE  in SE  n
	// new            R2         +0.01333  0.00333   +4.0  3  better
}
