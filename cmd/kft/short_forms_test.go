package main

import (
	"fmt"
	"strings"
	"testing"
)

// Errors of lags, histories and covariates, which become modes, name their own flags.
func TestErrorsOfShortForms(t *testing.T) {
	inEmptyFolder(t)
	var b strings.Builder
	b.WriteString("shop,month,price,units\n")
	for i := range 96 {
		fmt.Fprintf(&b, "S%d,2024-%02d,%d.25,%d\n", i/12, 1+i%12, i*7%31, 10+i*i%17)
	}
	write(t, "t.csv", b.String())
	for _, c := range []struct{ flag, value, want string }{
		{"--lags", "0", `--lags: mode "lag(0)"`},
		{"--history", "shop*foo", `--history: periods(shop+foo): unknown mode "foo"`},
		{"--history", "shop", "has only one value in the training rows"},
		{"--covariate", "number(price),linear(price+price)", "--covariate: linear(price+price) names price twice"},
		{"--modes", "shop,month,number(price),joint(price+price)", "--modes: joint(price+price) names price twice"},
	} {
		r := call(t, "fit", "t.csv", "-q", "--target", "units", "--split", "time:last=2", "--rank", "1", "--sweeps", "1", c.flag, c.value)
		if r.code == 0 || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s %s: got %q, want %q", c.flag, c.value, r.stderr, c.want)
		}
	}
}

// The command that a fit for forecasts proposes has what the forecasts need.
func TestNextForecast(t *testing.T) {
	inEmptyFolder(t)
	var b strings.Builder
	b.WriteString("shop,month,price,units,weight kg\n")
	for i := range 96 {
		fmt.Fprintf(&b, "S%d,2024-%02d,%d.25,%d,%d.5\n", i/12, 1+i%12, i*7%31, 10+i*i%17, i*i%13)
	}
	write(t, "t.csv", b.String())
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--target", "units"}, " --horizon 2"},
		{[]string{"--target", "units", "--term", "price", "--term", "shop", "--covariate", "price"}, " --future FILE, a table of the next cells with price"},
		{[]string{"--target", "weight kg,units"}, " --target 'weight kg' --horizon 2"},
	} {
		r := must(t, append([]string{"fit", "t.csv", "-q", "--forecast", "2", "--sweeps", "1", "--modes", "shop,month"}, c.flags...)...)
		if want := "\nNext: kft forecast model.kft" + c.want + "\n"; !strings.Contains(r.stdout, want) {
			t.Errorf("%q: got\n%s\nwant %q", c.flags, r.stdout, want)
		}
	}
}
