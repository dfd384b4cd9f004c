package kft_test

import (
	"context"
	"fmt"
	"io"
	"log"

	"github.com/kernel-fried-tensor/kft"
)

// cinemas returns a table in memory: visitors of three cinemas in 24 months, twice as many
// in summer.
func cinemas() kft.Source {
	var name []string
	var year, month []int
	var visitors []float64
	for c := range 3 {
		for m := range 24 {
			season := 1.0
			if m%12 >= 5 && m%12 <= 7 {
				season = 2
			}
			name, year, month = append(name, string(rune('A'+c))), append(year, 2015+m/12), append(month, m%12+1)
			visitors = append(visitors, 100*float64(c+1)*season)
		}
	}
	source, err := kft.Columns(kft.StringColumn("cinema", name), kft.IntColumn("year", year), kft.IntColumn("month", month), kft.FloatColumn("visitors", visitors))
	if err != nil {
		log.Fatal(err)
	}
	return source
}

// Forecast six months of two cinemas. Predictions of future cells agree with forecasts.
func ExampleModel_Forecast() {
	ctx := context.Background()
	spec := kft.Spec{
		Data:  kft.DataSpec{Target: "visitors", Modes: []string{"cinema", "time=year+month"}},
		Terms: []string{"cinema", "time.month"}, Transform: "log1p", Split: "random:100/0/0",
		Fit: kft.FitSpec{Ridge: "uniform", Lambda: kft.LambdaOf(1e-4)},
	}
	m, _, err := kft.Fit(ctx, spec, cinemas(), kft.Options{})
	if err != nil {
		log.Fatal(err)
	}
	sum, err := m.Forecast(ctx, io.Discard, kft.ForecastOptions{Horizon: 6, Only: []string{"cinema=A,C"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sum.Series, "series,", sum.First, "to", sum.Last)
	p, err := m.Predict(ctx, []kft.Cell{{"cinema": "A", "time": "2017-5"}, {"cinema": "A", "time": "2017-6"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f %.0f\n", p[0].Median, p[1].Median)
	// Output:
	// 2 series, 2017-1 to 2017-6
	// 100 200
}
