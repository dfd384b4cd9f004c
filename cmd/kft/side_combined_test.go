package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A mode may have a table and columns computed from its ids: the target follows the
// weather and the month, and each alone explains less.
func TestTableAndIDColumns(t *testing.T) {
	inEmptyFolder(t)
	r := rand.New(rand.NewPCG(5, 6))
	var sales, weather strings.Builder
	sales.WriteString("store,year,month,units\n")
	weather.WriteString("time,temp\n")
	for k := range 48 {
		year, month := 2010+k/12, k%12+1
		temp := 10 * r.NormFloat64()
		if k < 46 { // nothing is known of the weather of the last months
			fmt.Fprintf(&weather, "%d-%d,%.2f\n", year, month, temp)
		}
		for s := range 10 {
			if r.IntN(3) > 0 {
				fmt.Fprintf(&sales, "S%d,%d,%d,%.3f\n", s, year, month, 20+float64(s)+float64(month%6)+temp+0.1*r.NormFloat64())
			}
		}
	}
	write(t, "sales.csv", sales.String())
	write(t, "weather.csv", weather.String())
	base := []string{"fit", "sales.csv", "--target", "units", "--modes", "store,time=year+month", "--term", "store", "--term", "time", "--variant", "side", "--space", "primal", "--split", "time:last=8", "--quiet"}
	r2 := func(more ...string) float64 {
		t.Helper()
		text := must(t, append(append([]string{}, base...), more...)...).stdout
		for _, line := range strings.Split(text, "\n") {
			if f := strings.Fields(line); len(f) > 3 && f[0] == "model" && f[1] == "test" {
				var v float64
				fmt.Sscan(f[3], &v)
				return v
			}
		}
		t.Fatalf("no score of the test set in %s", text)
		return 0
	}
	table, computed := r2("--side", "time=weather.csv"), r2("--side", "time=@month:cat")
	both := r2("--side", "time=weather.csv", "--side", "time=@month:cat")
	if swapped := r2("--side", "time=@month:cat", "--side", "time=weather.csv"); swapped != both {
		t.Errorf("R2 is %g in one order of the entries and %g in the other", both, swapped)
	}
	if !(both > table+0.02 && both > computed+0.02) {
		t.Errorf("R2 is %g with the table, %g with the computed columns and %g with both", table, computed, both)
	}
	if text := must(t, "inspect", "model.kft").stdout; !strings.Contains(text, "46 of 48 ids with a row, 2 without") || !strings.Contains(text, "temp num") || !strings.Contains(text, "@month cat") {
		t.Errorf("got %s", text)
	}
	// A future month: from its number alone, or with a table of its weather.
	write(t, "next.csv", "store,year,month\nS1,2014,1\nS1,2014,2\n")
	write(t, "new_weather.csv", "time,temp\n2014-1,30\n")
	alone := must(t, "predict", "model.kft", "next.csv").stdout
	if strings.Count(alone, ",time:side\n") != 2 {
		t.Errorf("got %s", alone)
	}
	lines := strings.Split(must(t, "predict", "model.kft", "next.csv", "--side", "time=new_weather.csv").stdout, "\n")
	cold, hot := strings.Split(strings.Split(alone, "\n")[1], ","), strings.Split(lines[1], ",")
	var before, after float64
	fmt.Sscan(cold[3], &before)
	fmt.Sscan(hot[3], &after)
	if after < before+20 || lines[2] != strings.Split(alone, "\n")[2] {
		t.Errorf("a hot month is predicted as %g, without its weather as %g; the rest is %s", after, before, lines[2])
	}
}
