package spec

import (
	"slices"
	"strings"
	"testing"
)

func TestAddCovariates(t *testing.T) {
	t.Parallel()
	d := Data{Modes: []string{"lag(3)", "store", "number(temp)", "time=year+month"}, Covariates: []string{"price", `cost="cost (USD)"`, "level(promo)"},
		Lags: []string{"1", "12"}, History: []string{"store*item", "store"}}
	want := []string{"store", "time=year+month", "number(temp)", "covariate(price)", `cost=covariate("cost (USD)")`, "level(promo)",
		"lag(3)", "lag(1)", "lag(12)", "periods(store+item)", "periods2=periods(store)"}
	for range 2 { // twice is once
		d.AddCovariates()
		if !slices.Equal(d.Modes, want) || d.Covariates != nil || d.Lags != nil || d.History != nil {
			t.Fatalf("got %q, %v, %v, %v", d.Modes, d.Covariates, d.Lags, d.History)
		}
	}
	s := Spec{Data: d}
	if s.CellModes() != 2 {
		t.Errorf("%d modes identify a cell", s.CellModes())
	}
	if got := strings.Join(s.ModeNames(), " "); got != "store time temp price cost promo lag3 lag1 lag12 periods periods2" {
		t.Errorf("names are %s", got)
	}
	open := Data{Covariates: []string{"price"}}
	open.AddCovariates() // the modes are not known yet
	if len(open.Covariates) != 1 || len(open.Modes) != 0 {
		t.Errorf("got %v", open)
	}
}

func TestCovariatesInYAML(t *testing.T) {
	t.Parallel()
	text := "version: 1\ndata:\n  files: [t.csv]\n  target: y\n  modes: [store, item, time]\n  covariates: [price]\n  lags: [1, 12]\n  history: ['store*item']\n  absent: zero\nterms: [price, lag1, lag12, periods]\n"
	s, _, err := Parse([]byte(text), "s.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s.Fill()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	again, _, err := Parse(s.YAML(), "s.yaml")
	if err != nil {
		t.Fatal(err)
	}
	again.Fill()
	if string(again.JSON()) != string(s.JSON()) || s.Data.Absent != "zero" || len(s.Data.Modes) != 7 {
		t.Errorf("got %s, want %s", again.JSON(), s.JSON())
	}
}

// TestPointsOfLags checks that a point of a lag is refused with what to do.
func TestPointsOfLags(t *testing.T) {
	t.Parallel()
	s := Default()
	s.Data.Target, s.Data.Modes, s.Data.Covariates, s.Data.Lags = "units", []string{"store", "month"}, []string{"number(price)", "linear(price+lag1)"}, []string{"1"}
	s.Terms = []string{"store", "linear"}
	s.Fill()
	err := s.Validate()
	if err == nil || !strings.Contains(err.Error(), "linear(price+lag1): lag1 is computed from the training rows") || !strings.Contains(err.Error(), "add the term lag1") {
		t.Errorf("got %v, want that lag1 is a curve of its own", err)
	}
}
