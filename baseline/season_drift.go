package baseline

import "fmt"

// changeShares are the shares of the average change that are tried.
var changeShares = []float64{1, 0.75, 0.5, 0.25}

// seasonalDrift continues each series from its value k seasons of s periods before, by the
// average change d of its values from one season to the next,
//
//	y(t) = y(t - k s) + a k d,
//
// with the share a of the change. Without negative training values, no prediction is
// negative. Where the value is not known, the prediction is that of the parent.
type seasonalDrift struct {
	seasonal
	change []float64 // d, by series
	share  float64
	signed bool // values may be negative
}

// newSeasonalDrift returns the formula of a season with the whole change. It costs O(n) for n
// training rows.
func (f *fitter) newSeasonalDrift(h *history, season Season, base parent) *seasonalDrift {
	s := &seasonalDrift{seasonal{h, f.Time, int32(season.Periods), false, base.predictor, 0}, make([]float64, h.by.size), 1, f.negative}
	for g := range s.change {
		rows := h.of(int32(g))
		sum, pairs, before := 0.0, 0.0, 0
		for _, r := range rows {
			for rows[before].period < r.period-s.season {
				before++
			}
			if rows[before].period == r.period-s.season {
				sum += float64(r.y) - float64(rows[before].y)
				pairs++
			}
		}
		if pairs > 0 {
			s.change[g] = sum / pairs
		}
	}
	return s
}

func (s *seasonalDrift) predict(part Part, from int, dst []float64) {
	s.parent.predict(part, from, dst)
	for i, g := range s.by.parts[part][from : from+len(dst)] {
		last, _, seasons := s.before(g, s.when.Periods[part][from+i])
		if last.weight == 0 {
			continue
		}
		dst[i] = last.value/last.weight + s.share*float64(seasons)*s.change[g]
		if !s.signed {
			dst[i] = max(dst[i], 0)
		}
	}
}

// seasonDrift finds the season and the share of the change.
func (f *fitter) seasonDrift(h *history, by string, base parent) Formula {
	var tried []*seasonalDrift
	for _, season := range f.Time.Seasons {
		whole := f.newSeasonalDrift(h, season, base)
		for _, share := range changeShares {
			part := *whole
			part.share = share
			tried = append(tried, &part)
		}
	}
	d, _ := f.pick("season drift", len(tried), func(from int, dst [][]float64) {
		for i, s := range tried {
			s.predict(Valid, from, dst[i])
		}
	})
	s := tried[d.option]
	return Formula{Name: f.Time.Seasons[d.option/len(changeShares)].Name + " plus drift" + by, Setting: fmt.Sprintf("plus %g times the average change of a season", s.share),
		Loss: d.loss, key: "season drift", option: d.option, predictor: s}
}
