package guess_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// Columns that repeat parts of the date of a single series are no modes, nor is one that the
// target is computed from. Trials of the same cell stay apart.
func TestComputedColumns(t *testing.T) {
	t.Parallel()
	var births, answers, tips, records strings.Builder
	births.WriteString("date,births,wday,year,day_of_year\n")
	for i := range 800 {
		day := time.Date(2020, 1, 1+i, 0, 0, 0, 0, time.UTC)
		fmt.Fprintf(&births, "%s,%d,%s,%d,%d\n", day.Format(time.DateOnly), 8000+i%97*13, day.Format("Mon"), day.Year(), day.YearDay())
	}
	answers.WriteString("person,item,resp,r2\n")
	for i := range 600 {
		resp := []string{"no", "perhaps", "yes"}[i*7%11%3]
		fmt.Fprintf(&answers, "p%d,q%d,%s,%s\n", i/20, i%20, resp, map[string]string{"no": "N", "perhaps": "Y", "yes": "Y"}[resp])
	}
	tips.WriteString("company,hour,tip\n")
	records.WriteString("agent,company,nights,adults,lead,changes,rooms,amount\n")
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 600 {
		fmt.Fprintf(&tips, "c%d,%d,%s\n", i%7, i%24, []string{"no", "yes"}[i*5%13%2])
		fmt.Fprintf(&records, "a%d,c%d,%d,%d,%d,%d,%d,%d.5\n", i%5, i%3, rng.IntN(4), rng.IntN(4), rng.IntN(4), rng.IntN(4), rng.IntN(4), i*31%997)
	}
	for _, tc := range []struct {
		text, target string
		modes        []string
		duplicates   string
	}{
		{births.String(), "births", []string{"time=date"}, ""},
		{answers.String(), "r2", []string{"person", "item"}, ""},
		{tips.String(), "tip", []string{"company", "hour"}, "keep"},
		{records.String(), "amount", []string{"agent", "company"}, "keep"},
	} {
		g, err := tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "t.csv", tc.text)), tableio.Format{})
		if err != nil || g.Target != tc.target || !slices.Equal(g.Modes, tc.modes) || g.Duplicates != tc.duplicates {
			t.Errorf("got target %s, modes %q, duplicates %q, %v, want %s, %q, %q", g.Target, g.Modes, g.Duplicates, err, tc.target, tc.modes, tc.duplicates)
		}
	}
}

// Columns that add up to the target, and those that are the sum of it and others, are neither modes nor covariates.
func TestSumsWithTheTarget(t *testing.T) {
	t.Parallel()
	var riders, ledger, rides strings.Builder
	rng := rand.New(rand.NewPCG(3, 4))
	riders.WriteString("day,hour,temp,casual,registered,cnt\n")
	for i := range 40 * 24 {
		casual, registered := rng.IntN(80), rng.IntN(300)
		fmt.Fprintf(&riders, "%s,%d,%.2f,%d,%d,%d\n", day(i/24).Format(time.DateOnly), i%24, rng.Float64(), casual, registered, casual+registered)
	}
	ledger.WriteString("account,month,fees,turnover,credit,sales\n")
	for i := range 60 * 12 {
		credit, sales := 100*rng.Float64(), 900*rng.Float64()
		fmt.Fprintf(&ledger, "A%d,2020-%02d,%.2f,%.6f,%.6f,%.6f\n", i/12, 1+i%12, rng.Float64(), credit+sales, credit, sales)
	}
	rides.WriteString("zone,km,fare,tip,tolls,total\n")
	for range 900 {
		km, toll := 20*rng.Float64(), []float64{0, 5.76}[rng.IntN(2)]
		fare, tip := 3+2*km+rng.Float64(), float64(rng.IntN(9))
		fmt.Fprintf(&rides, "Z%d,%.2f,%.6f,%.0f,%.2f,%.6f\n", rng.IntN(40), km, fare, tip, toll, fare+tip+toll)
	}
	for _, tc := range []struct {
		text, target        string
		covariates, leftOut []string
	}{
		{riders.String(), "cnt", []string{"temp"}, []string{"casual", "registered"}},
		{ledger.String(), "sales", []string{"fees", "credit"}, []string{"turnover"}},
		{rides.String(), "total", []string{"km"}, []string{"fare", "tip", "tolls"}},
	} {
		g, err := tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "t.csv", tc.text)), tableio.Format{})
		if err != nil || g.Target != tc.target || !slices.Equal(g.Covariates, tc.covariates) {
			t.Fatalf("got target %s, covariates %q, %v, want %s, %q", g.Target, g.Covariates, err, tc.target, tc.covariates)
		}
		var got []string
		for _, l := range g.LeftOut {
			if strings.Contains(l.Reason, "add up") && !l.Covariate {
				got = append(got, l.Column)
			}
		}
		if !slices.Equal(got, tc.leftOut) {
			t.Errorf("%s: columns %q give the target away, want %q", tc.target, got, tc.leftOut)
		}
	}
}
