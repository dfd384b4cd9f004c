package guess_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/guess"
)

// insured returns claims, or amounts, of 8 regions, 5 kinds and 6 years with an exposure of the given name. Regions and kinds differ
// by factors, and kinds with many claims have little exposure.
func insured(name, target string, rate float64, proportional bool) guess.Sample {
	r := rand.New(rand.NewPCG(1, 2))
	s := guess.Sample{Names: []string{"region", "kind", "year", name, target}, Whole: true}
	for region := range 8 {
		for kind := range 5 {
			for year := range 6 {
				exposure := math.Round(1000*math.Exp(r.NormFloat64()-1.2*float64(kind))+1) / 10
				mean := rate * math.Exp(1.5*float64(kind)+0.1*float64(region))
				if proportional {
					mean *= exposure
				}
				value := strconv.Itoa(int(mean + 0.9*math.Sqrt(mean)*r.Float64() + 0.5))
				if target == "amount" {
					value = strconv.FormatFloat(mean*(1+r.Float64())+0.01, 'f', 3, 64)
				}
				s.Rows = append(s.Rows, []string{"R" + strconv.Itoa(region), "K" + strconv.Itoa(kind), strconv.Itoa(2010 + year), strconv.FormatFloat(exposure, 'f', 1, 64), value})
			}
		}
	}
	return s
}

func TestExposureOfCounts(t *testing.T) {
	for _, c := range []struct {
		name, column, target string
		rate                 float64
		proportional         bool
		given                guess.Given
		exposure, covariate  string
	}{
		{"counts in proportion", "exposure", "claims", 0.05, true, guess.Given{}, "exposure", ""},
		{"a population", "population", "deaths", 0.05, true, guess.Given{}, "population", ""},
		{"person-years", "person_years", "cases", 0.05, true, guess.Given{}, "person_years", ""},
		{"another name", "income", "claims", 0.05, true, guess.Given{}, "", "income"},
		{"a density", "population_density", "claims", 0.05, true, guess.Given{}, "", "population_density"},
		{"counts that do not follow it", "exposure", "claims", 0.5, false, guess.Given{}, "", "exposure"},
		{"large counts", "exposure", "claims", 50, true, guess.Given{}, "", "exposure"},
		{"amounts", "exposure", "amount", 0.05, true, guess.Given{}, "", "exposure"},
		{"forecasts", "exposure", "claims", 0.05, true, guess.Given{Future: true}, "", ""},
		{"another likelihood", "exposure", "claims", 0.05, true, guess.Given{Uncounted: true}, "", "exposure"},
		{"no covariates", "exposure", "claims", 0.05, true, guess.Given{Undescribed: true}, "", ""},
	} {
		c.given.Target = c.target
		g := guess.Columns(insured(c.column, c.target, c.rate, c.proportional), c.given)
		covariate := ""
		if len(g.Covariates) > 0 {
			covariate = g.Covariates[0]
		}
		if g.Exposure != c.exposure || covariate != c.covariate || len(g.Modes) != 3 {
			t.Errorf("%s: exposure %q and covariate %q beside the modes %v, want %q and %q beside three", c.name, g.Exposure, covariate, g.Modes, c.exposure, c.covariate)
		}
	}
}
