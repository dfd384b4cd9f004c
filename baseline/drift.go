package baseline

import "fmt"

// dampings are the factors that are tried, by which the step of a damped drift shrinks
// from one period to the next.
var dampings = []float64{0.95, 0.9, 0.8, 0.6, 0.3}

// drift continues each series from its last value y(T) by its average step d,
//
//	y(T+h) = y(T) + d (c + c^2 + ... + c^h),
//
// with the damping c, 1 for none. Without negative training values, no prediction is
// negative. A series without rows has the prediction of the parent.
type drift struct {
	*history
	when    *Time
	step    []float64 // by series
	damping float64
	parent  predictor
	signed  bool // values may be negative
}

// newDrift returns the drift of all series, without damping.
func (f *fitter) newDrift(h *history, base parent) *drift {
	d := &drift{history: h, when: f.Time, step: make([]float64, h.by.size), damping: 1, parent: base.predictor, signed: f.negative}
	for g := range d.step {
		rows := h.of(int32(g))
		if len(rows) == 0 {
			continue
		}
		if first, last := rows[0], rows[len(rows)-1]; last.period > first.period {
			d.step[g] = (float64(last.y) - float64(first.y)) / float64(last.period-first.period)
		}
	}
	return d
}

func (d *drift) predict(part Part, from int, dst []float64) {
	d.parent.predict(part, from, dst)
	for i, g := range d.by.parts[part][from : from+len(dst)] {
		dst[i] = d.at(g, d.when.Periods[part][from+i], dst[i])
	}
}

// at returns the prediction for a series, otherwise for one without rows.
func (d *drift) at(series, period int32, otherwise float64) float64 {
	if series < 0 || len(d.of(series)) == 0 {
		return otherwise
	}
	rows := d.of(series)
	last, step := rows[len(rows)-1], d.step[series]
	v := float64(last.y)
	if d.damping == 1 {
		v += step * float64(period-last.period)
	} else {
		const most = 1000 // the rest is nothing
		for range min(period-last.period, most) {
			step *= d.damping
			v += step
		}
	}
	if !d.signed {
		v = max(v, 0)
	}
	return v
}

// drifts returns the drift and the one with the best damping.
func (f *fitter) drifts(h *history, by string, base parent) []Formula {
	var found []Formula
	if f.wanted("drift") {
		d := f.newDrift(h, base)
		chosen, _ := f.pick("drift", 1, func(from int, dst [][]float64) { d.predict(Valid, from, dst[0]) })
		found = append(found, Formula{Name: "drift" + by, Setting: "last value plus average step", Loss: chosen.loss, key: "drift", predictor: d})
	}
	if f.wanted("damped drift") {
		tried := make([]*drift, len(dampings))
		for i, c := range dampings {
			tried[i] = f.newDrift(h, base)
			tried[i].damping = c
		}
		chosen, _ := f.pick("damped drift", len(tried), func(from int, dst [][]float64) {
			for i, d := range tried {
				d.predict(Valid, from, dst[i])
			}
		})
		d := tried[chosen.option]
		found = append(found, Formula{Name: "damped drift" + by, Setting: fmt.Sprintf("last value plus average step times %g, its square, ...", d.damping),
			Loss: chosen.loss, key: "damped drift", option: chosen.option, predictor: d})
	}
	return found
}
