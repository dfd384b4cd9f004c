package metrics

import (
	"math"

	"github.com/kernel-fried-tensor/kft/predictive"
)

// A Censored measures predictions of a target of which some values are known from below
// only. The other measures of a [Score] leave those rows out.
type Censored struct {
	N int `json:"n"` // censored rows
	// LogScore is the mean, over all rows, of the log density of known values and of the
	// log probability of at least the value for censored ones.
	LogScore Number `json:"log_score"`
}

// CensoredSums accumulates the sums of a [Censored]. The zero value is ready to use.
type CensoredSums struct {
	n           int
	weight, log float64
}

// leastLog bounds the log probability of a single row.
const leastLog = -700

// Add adds a row with its predictive distribution.
func (s *CensoredSums) Add(d predictive.Distribution, y, w float64, censored bool) {
	log := 0.0
	if censored {
		below, _ := d.CDFLimits(y)
		s.n++
		log = math.Log1p(-below)
	} else {
		log = d.LogDensity(y)
	}
	s.weight += w
	s.log += w * max(log, leastLog)
}

// Merge adds the sums of other rows.
func (s *CensoredSums) Merge(o *CensoredSums) {
	s.n += o.n
	s.weight += o.weight
	s.log += o.log
}

// Censored returns the measures, nil without rows.
func (s *CensoredSums) Censored() *Censored {
	if s.weight == 0 {
		return nil
	}
	return &Censored{s.n, Number(s.log / s.weight)}
}
