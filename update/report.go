package update

import (
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/predictive"
)

// A Report says what rows changed in a model.
type Report struct {
	Rows    int `json:"rows"`    // taken in
	Removed int `json:"removed"` // taken out
	Struck  int `json:"struck"`  // of those, rows that were taken in after the fit
	Skipped int `json:"skipped"` // rows without a target or with an empty id
	Taken   int `json:"taken"`   // all rows since the fit
	Trained int `json:"trained"` // training rows of the fit

	// Repeated rows of the update are the same as rows that the model took in since the fit; 0
	// for local updates, which do not look for them.
	Repeated int `json:"repeated"`

	New   []NewIDs `json:"new"`   // by mode
	Moved []Moved  `json:"moved"` // by term and core
	Drift Drift    `json:"drift"`

	RefitDue bool     `json:"refit_due"`
	Reasons  []string `json:"reasons"` // why a refit is due

	known int
}

func newReport(rows, trained int) *Report {
	return &Report{Rows: rows, New: []NewIDs{}, Moved: []Moved{}, Reasons: []string{}, known: trained}
}

// NewIDs counts ids that had no rows before.
type NewIDs struct {
	Mode string `json:"mode"`
	IDs  int    `json:"ids"`
}

// Moved says how far the entities of a core or a series term moved, in standard deviations
// of their posterior at the fit: the root mean square, and the largest.
type Moved struct {
	Term     string  `json:"term"`
	Core     string  `json:"core"`
	Entities int     `json:"entities"`
	New      int     `json:"new"` // of those, without training rows
	RMS      float64 `json:"rms"`
	Largest  float64 `json:"largest"`
}

// Drift compares the rows with what the model expected before it took them in. Residuals
// are divided by their predictive standard deviation, or are normal scores where the target
// has counts or few values, so that their mean is 0 and their root mean square 1 if nothing
// changed. Rest is how far the offset, which stands for all
// that an update leaves as it is, would have moved, in standard deviations of its
// posterior.
type Drift struct {
	Mean float64 `json:"mean"`
	RMS  float64 `json:"rms"`
	Rest float64 `json:"rest"`
}

// Limits beyond which a refit is due. A mean counts only if it is also far from 0 for its
// number of rows, whose errors hang together.
const (
	dueMean  = 0.2
	dueRMS   = 1.3
	dueRows  = 0.1 // share of the training rows
	dueError = 4   // standard errors
)

func addNew(list []NewIDs, mode string, n int) []NewIDs {
	if i := slices.IndexFunc(list, func(l NewIDs) bool { return l.Mode == mode }); i >= 0 {
		list[i].IDs += n
		return list
	}
	return append(list, NewIDs{mode, n})
}

// observe measures the rows from first on before they move anything.
func (r *Report) observe(s *state, first int) {
	sum, squares, n := 0.0, 0.0, 0.0
	shared := 1.0 // precisions of rows are divided by it
	if s.fitted.Spec().Uncertainty.NoiseUse == "fit" {
		shared = s.book.Noise
	}
	for row := int32(first); int(row) < s.rows.Len(); row++ {
		w := s.weight[row]
		if !(w > 0) {
			continue
		}
		u, ok := s.score(row)
		if !ok {
			u = s.residual(row) / math.Sqrt(s.variance[row]+(1/w-s.lost[row])/shared)
		}
		sum += u
		squares += u * u
		n++
	}
	if n > 0 {
		r.Drift.Mean, r.Drift.RMS = sum/n, math.Sqrt(squares/n)
	}
}

// score returns the normal score of the randomised probability integral transform of a row
// with a count or one of few values, which is standard normal if nothing changed. The
// Gaussian observation that stands for such a row says nothing of that: it follows the mean
// of the field, and its precision may be tiny.
func (s *state) score(row int32) (score float64, ok bool) {
	noise := s.fitted.Noise()
	m, v := s.mean[row]+s.moved[row]+s.offset(row), math.Max(s.variance[row], 0)
	if counts := noise.Count(); counts != nil {
		return predictive.CountMixture(counts, m, v).Score(s.rows.Y[row], scoreSeed, uint64(row)), true
	}
	if finite := noise.Finite(); finite != nil {
		level := predictive.FiniteMixture(finite, m, v).PIT(s.rows.Y[row], scoreSeed, uint64(row))
		return math.Sqrt2 * math.Erfinv(2*min(max(level, minLevel), 1-minLevel)-1), true
	}
	return 0, false
}

// The random numbers of scores depend on scoreSeed and the row. Levels nearer than minLevel to 0
// or 1 have no finite score.
const (
	scoreSeed = 1
	minLevel  = 1e-15
)

// finish describes what moved, and judges whether a refit is due.
func (r *Report) finish(s *state, first int, touched []mover) {
	r.Taken, r.Trained = s.rows.Len(), r.known
	field := s.fitted.Field()
	for _, b := range s.blocks {
		if b.parts != nil {
			for _, p := range b.parts {
				m := Moved{Term: field.Terms[p.term].Name(), Core: field.Terms[p.term].Cores[p.core].Name()}
				r.Moved = m.of(r.Moved, touched, func(t mover) (float64, bool, bool) {
					own, ok := t.(*slot)
					if !ok || own.block != b {
						return 0, false, false
					}
					return own.distanceOf(p.at, p.weights), own.entity < 0, true
				})
			}
			continue
		}
		m := Moved{Term: field.Terms[b.term].Name(), Core: field.Terms[b.term].Cores[b.core].Name()}
		r.Moved = m.of(r.Moved, touched, func(t mover) (float64, bool, bool) {
			own, ok := t.(*slot)
			if !ok || own.block != b {
				return 0, false, false
			}
			return own.distance(), own.entity < 0, true
		})
	}
	for _, b := range s.series {
		m := Moved{Term: b.term.Label, Core: b.term.Label}
		r.Moved = m.of(r.Moved, touched, func(t mover) (float64, bool, bool) {
			own, ok := t.(*seriesSlot)
			if !ok || own.block != b {
				return 0, false, false
			}
			return own.distance(), own.entity < 0, true
		})
	}
	goal, weight := 0.0, 0.0
	for row := int32(first); int(row) < s.rows.Len(); row++ {
		goal += s.weight[row] * s.residual(row)
		weight += s.weight[row]
	}
	if v := float64(field.Offset.Var); v > 0 && weight > 0 {
		r.Drift.Rest = goal / (1/v + weight) / math.Sqrt(v)
	}
	r.judge()
}

func (r *Report) judge() {
	due := func(format string, args ...any) { r.Reasons = append(r.Reasons, fmt.Sprintf(format, args...)) }
	if share := float64(r.Taken) / float64(max(r.Trained, 1)); share > dueRows {
		due("the model was updated with %d rows since its fit, %.0f %% of its training rows", r.Taken, 100*share)
	}
	if n := float64(r.Rows); n > 1 {
		if m := r.Drift.Mean; math.Abs(m) > dueMean && math.Abs(m)*math.Sqrt(n) > dueError {
			due("the errors of the new rows have a mean of %+.2f predicted standard deviations", m)
		}
		if v := r.Drift.RMS; v > dueRMS && (v*v-1)*math.Sqrt(n/2) > dueError {
			due("the errors of the new rows are %.2f times as large as predicted", v)
		}
	}
	r.RefitDue = len(r.Reasons) > 0
}

// of appends the summary of the blocks that belong to m, if there are any.
func (m Moved) of(list []Moved, touched []mover, own func(mover) (distance float64, fresh, ok bool)) []Moved {
	sum := 0.0
	for _, t := range touched {
		d, fresh, ok := own(t)
		if !ok {
			continue
		}
		m.Entities++
		if fresh {
			m.New++
		}
		sum += d * d
		m.Largest = math.Max(m.Largest, d)
	}
	if m.Entities == 0 {
		return list
	}
	m.RMS = math.Sqrt(sum / float64(m.Entities))
	return append(list, m)
}
