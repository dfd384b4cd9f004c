package baseline

import (
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/dataset/timeline"
)

// SeasonsOf returns the seasons that formulas try on a timeline: the cycles of its
// calendar, the year of days as 52 weeks so that weekdays match. Running numbers have
// no calendar, so usual numbers of periods are tried.
func SeasonsOf(line *timeline.Timeline) []Season {
	var seasons []Season
	if line.Unit() == "" {
		for _, n := range []int{4, 7, 12, 24, 52} {
			seasons = append(seasons, Season{Periods: n, Name: fmt.Sprintf("value %d periods before", n)})
		}
		return seasons
	}
	for _, c := range line.Cycles() {
		periods := math.Round(c.Periods)
		if len(seasons) > 0 {
			shorter := float64(seasons[len(seasons)-1].Periods)
			periods = shorter * math.Round(c.Periods/shorter)
		}
		seasons = append(seasons, Season{Periods: int(periods), Name: fmt.Sprintf("same %s of the last %s", line.Period(), c.Name)})
	}
	return seasons
}
