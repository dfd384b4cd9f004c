package dataset

import "testing"

func TestCovariateModes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, name                        string
		covariate, numeric, derived, open bool
		lag                               int
	}{
		{text: "store", name: "store"},
		{text: "number(price)", name: "price", covariate: true, numeric: true},
		{text: `cost=number("price (USD)")`, name: "cost", covariate: true, numeric: true},
		{text: "level(promo)", name: "promo", covariate: true},
		{text: "covariate(promo)", name: "promo", covariate: true, open: true},
		{text: "lag(12)", name: "lag12", covariate: true, numeric: true, derived: true, lag: 12},
		{text: "periods(store+item)", name: "periods", covariate: true, numeric: true, derived: true},
		{text: "hour(at)", name: "hour"},
	} {
		m, err := ParseMode(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if m.Name != c.name || m.Covariate() != c.covariate || m.Numeric() != c.numeric || m.Derived() != c.derived || m.Open() != c.open || m.Lag() != c.lag {
			t.Errorf("%s: %+v", c.text, m)
		}
		if m.String() != c.text {
			t.Errorf("%s is written as %s", c.text, m)
		}
		if m.Covariate() && m.IsTime([]string{"2020-01", "2020-02"}) {
			t.Errorf("%s is a time", c.text)
		}
	}
	for _, text := range []string{"lag(0)", "lag(-1)", "lag(01)", "lag(x)", "lag(10001)", "number(a+b)", "numbr(a)", "number()"} {
		if m, err := ParseMode(text); err == nil {
			t.Errorf("%s is %+v", text, m)
		}
	}
}
