package testtable

import (
	"math"
	"math/rand/v2"
)

// Series calls add for the cells of 15 shops, 12 items and some weeks, from week 1. Each
// pair of shop and item follows a random walk ("walk"), an AR(1) process ("ar") or a season
// of 12 weeks ("season") with noise of sd 0.5. A fifth of the cells is missing.
func Series(kind string, weeks int, rng *rand.Rand, add func(shop, item, week int, y float64)) {
	for shop := range 15 {
		for item := range 12 {
			level, ar, phase := rng.NormFloat64(), 0.0, rng.Float64()
			for week := range weeks {
				x := 0.0
				switch kind {
				case "walk":
					level += 0.3 * rng.NormFloat64()
				case "ar":
					ar = 0.8*ar + 0.6*rng.NormFloat64()
				case "season":
					x = math.Sin(2 * math.Pi * (float64(week)/12 + phase))
				}
				y := 10 + level + ar + x + 0.5*rng.NormFloat64()
				if rng.Float64() < 0.8 {
					add(shop, item, week+1, y)
				}
			}
		}
	}
}
