package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A prediction requires neither target nor weight and ignores these columns; an evaluation
// reads them.
func TestPredictIgnoresTheTarget(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, fitSales("--rank", "1", "--sweeps", "1")...)
	write(t, "new.csv", "store,item,year,month,units\nS001,A0001,2023,1,to be found\nS001,A0002,2023,1,NaN\n")
	if r := must(t, "predict", "model.kft", "new.csv"); !strings.HasPrefix(r.stdout, "store,item,year,month,units,prediction,median,sd,sd_model,sd_noise,unseen\nS001,A0001,2023,1,to be found,") {
		t.Errorf("wrote %q", r.stdout)
	}
	r := call(t, "evaluate", "model.kft", "new.csv")
	if r.code != exitFailed || !strings.Contains(r.stderr, `new.csv, line 2, column "units", value "to be found": this is not a number`) {
		t.Errorf("exit %d, %q", r.code, r.stderr)
	}
}

func TestPredictColumnExists(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, fitSales("--rank", "1", "--sweeps", "1")...)
	for _, column := range []string{"prediction", "median", "sd", "sd_noise", "unseen"} {
		write(t, "new.csv", "store,item,year,month,"+column+"\nS001,A0001,2023,1,7\n")
		refused(t, exitFailed, []string{"new.csv", `column "` + column + `"`, "the table already has this column", "rename it or drop it"}, "predict", "model.kft", "new.csv", "-o", "out.csv")
		refused(t, exitFailed, []string{`column "` + column + `"`}, "predict", "model.kft", "new.csv")
	}
}

func TestPredictKeepsLineEndings(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, fitSales("--rank", "1", "--sweeps", "1")...)
	write(t, "plain.csv", "store,item,year,month\nS001,A0001,2023,1\nS001,A0002,2023,1\n")
	write(t, "windows.csv", "\ufeffstore,item,year,month\r\nS001,A0001,2023,1\r\nS001,A0002,2023,1")
	plain := must(t, "predict", "model.kft", "plain.csv").stdout
	windows := must(t, "predict", "model.kft", "windows.csv").stdout
	if windows != "\ufeff"+strings.ReplaceAll(plain, "\n", "\r\n") {
		t.Errorf("plain %q, windows %q", plain, windows)
	}
}

// A cell is given by its modes or by their columns; an unseen id has a hint.
func TestCells(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, fitSales("--rank", "1", "--sweeps", "1")...)
	answer := func(r result) string { return r.stdout[strings.Index(r.stdout, ": "):] }
	byMode := must(t, "predict", "model.kft", "--cell", "store=S001,item=A0001,time=2023-1")
	byColumns := must(t, "predict", "model.kft", "--cell", "store=S001,item=A0001,year=2023,month=1")
	if answer(byMode) != answer(byColumns) || byMode.stderr != "" {
		t.Errorf("%+v and %+v", byMode, byColumns)
	}
	r := must(t, "predict", "model.kft", "--cell", "store=S0001,item=A0001,time=2023-1")
	if want := `store: the id "S0001" is not in the training data (did you mean "S001"?); it is predicted by the prior`; strings.TrimSpace(r.stderr) != want {
		t.Errorf("got %q, want %q", r.stderr, want)
	}
	refused(t, exitFailed, []string{`"S0001"`, `did you mean "S001"?`, "--strict"}, "predict", "model.kft", "--strict", "--cell", "store=S0001,item=A0001,time=2023-1")
	refused(t, exitUsage, []string{`no mode "month"`}, "predict", "model.kft", "--cell", "store=S001,item=A0001,month=1")

	// A function of a column.
	write(t, "hours.csv", "store,at,y\na,2016-01-01 05:00,1\nb,2016-01-01 06:00,2\na,2016-01-02 06:00,3\nb,2016-01-02 07:00,5\nc,2016-01-03 05:00,4\nc,2016-01-03 07:00,9\n")
	must(t, "fit", "hours.csv", "--target", "y", "--modes", "store,hour(at)", "--rank", "1", "--sweeps", "1", "--split", "random:70/30", "-o", "hours.kft")
	if a, b := must(t, "predict", "hours.kft", "--cell", "store=a,hour=6"), must(t, "predict", "hours.kft", "--cell", "store=a,at=2020-12-31 06:30"); answer(a) != answer(b) {
		t.Errorf("%q and %q", a.stdout, b.stdout)
	}
	refused(t, exitUsage, []string{"at=noon is not a date or a time, which hour(at) requires"}, "predict", "hours.kft", "--cell", "store=a,at=noon")
}

// A cell of no period has a prediction that is not that of a period, also if groups of the time would give one.
func TestCellOfNoPeriod(t *testing.T) {
	inEmptyFolder(t)
	var b strings.Builder
	b.WriteString("shop,month,units\n")
	for m := range 36 {
		for i := range 4 {
			fmt.Fprintf(&b, "s%d,%d-%02d,%d\n", i, 2020+m/12, m%12+1, 20+5*i+m%12+m*i%3)
		}
	}
	write(t, "t.csv", b.String())
	must(t, "fit", "t.csv", "--forecast", "3", "--term", "shop", "--term", "series(shop; time)", "--term", "time.month", "--inference", "mean-field", "--sweeps", "3")
	for id, warned := range map[string]bool{"2023-13": true, "soon": true, "2023-02": false, "2021-05": false} {
		r := must(t, "predict", "model.kft", "--cell", "shop=s1,time="+id)
		if got := strings.Contains(r.stderr, "warning: mode time: \""+id+"\" is not a period"); got != warned {
			t.Errorf("%s: got %q", id, r.stderr)
		}
	}
}

// The output has the same keys with and without --part.
func TestEvaluatePartKeys(t *testing.T) {
	inEmptyFolder(t)
	writeSales(t, "sales.csv", smallSales)
	must(t, fitSales("--rank", "1", "--sweeps", "1", "--split", "entity:store=10%")...)
	var unseen [2]map[string]int
	for i, more := range [][]string{nil, {"--part", "test"}} {
		var fields struct {
			N      int
			Unseen map[string]int
		}
		if err := json.Unmarshal([]byte(must(t, append([]string{"evaluate", "model.kft", "sales.csv", "--json"}, more...)...).stdout), &fields); err != nil {
			t.Fatal(err)
		}
		unseen[i] = fields.Unseen
		if i == 1 && fields.Unseen["store"] != fields.N {
			t.Errorf("%d rows of held-out stores have an unseen store, want %d", fields.Unseen["store"], fields.N)
		}
	}
	if len(unseen[0]) != 3 || len(unseen[1]) != 3 {
		t.Errorf("%v and %v", unseen[0], unseen[1])
	}
}
