package metrics

import "math"

// A Binary measures predicted probabilities of a target that is 0 or 1. Measures of no
// rows are NaN.
type Binary struct {
	LogLoss Number `json:"log_loss"` // mean of -log of the probability of the observed value
	Brier   Number `json:"brier"`    // mean squared difference of probability and value
	// AUC is the probability that a row with the value 1 has a higher prediction than a
	// row with 0, where equal predictions count half.
	AUC       Number `json:"auc"`
	ErrorRate Number `json:"error_rate"` // share of rows whose likelier value was not observed

	// Reliability has the mean prediction and the share of ones by decile of the
	// prediction. Equal predictions are not divided, so there may be fewer groups.
	Reliability []Reliability `json:"reliability,omitempty"`
}

// A Reliability compares predictions of similar size with the values.
type Reliability struct {
	N         int    `json:"n"`
	Predicted Number `json:"predicted"` // mean probability
	Actual    Number `json:"actual"`    // share of ones
}

// leastProbability bounds the log loss of a single row. A formula may predict 0 or less.
const leastProbability = 1e-6

// Predictions are collected in bins of their log odds, so that sums of disjoint rows add
// up. Rows of one bin count as equal.
const (
	oddsStep = 0.005
	oddsEnd  = 14 // about the log odds of leastProbability
	oddsBins = 2*oddsEnd/oddsStep + 1
)

// BinarySums accumulates the sums of a [Binary]. The zero value is ready to use.
type BinarySums struct {
	weight, logLoss, squares, wrong float64
	bins                            []oddsBin
}

type oddsBin struct {
	n                  int
	weight, ones, mean float64 // summed weights: of all rows, of those with value 1, times the prediction
}

// Add adds a row with value y, which is 0 or 1, its weight and the predicted probability
// of 1. A prediction outside (0, 1) counts as the nearest probability above 0 or below 1
// in the log loss.
func (s *BinarySums) Add(y, w, p float64) {
	if s.bins == nil {
		s.bins = make([]oddsBin, oddsBins)
	}
	s.weight += w
	s.squares += w * (y - p) * (y - p)
	inside := min(max(p, leastProbability), 1-leastProbability)
	s.logLoss -= w * (y*math.Log(inside) + (1-y)*math.Log1p(-inside))
	if (p > 0.5) != (y == 1) {
		s.wrong += w
	}
	odds := min(max(math.Log(inside/(1-inside)), -oddsEnd), oddsEnd)
	b := &s.bins[int(math.Round((odds+oddsEnd)/oddsStep))]
	b.n++
	b.weight += w
	b.ones += w * y
	b.mean += w * p
}

// Merge adds the sums of other rows.
func (s *BinarySums) Merge(o *BinarySums) {
	if o.bins == nil {
		return
	}
	if s.bins == nil {
		s.bins = make([]oddsBin, oddsBins)
	}
	s.weight += o.weight
	s.logLoss += o.logLoss
	s.squares += o.squares
	s.wrong += o.wrong
	for i, b := range o.bins {
		a := &s.bins[i]
		a.n += b.n
		a.weight += b.weight
		a.ones += b.ones
		a.mean += b.mean
	}
}

// Binary returns the measures, nil without rows.
func (s *BinarySums) Binary() *Binary {
	if s.bins == nil {
		return nil
	}
	b := &Binary{LogLoss: Number(s.logLoss / s.weight), Brier: Number(s.squares / s.weight), ErrorRate: Number(s.wrong / s.weight)}
	var pairs, ones, zeros float64
	for _, bin := range s.bins {
		zero := bin.weight - bin.ones
		pairs += bin.ones * (zeros + zero/2)
		ones += bin.ones
		zeros += zero
	}
	b.AUC = Number(pairs / (ones * zeros))
	b.Reliability = s.reliability()
	return b
}

// reliability divides the bins into groups of about a tenth of the weight.
func (s *BinarySums) reliability() []Reliability {
	const groups = 10
	var all []Reliability
	var now oddsBin
	done, next := 0.0, 1.0
	for _, bin := range s.bins {
		now.n += bin.n
		now.weight += bin.weight
		now.ones += bin.ones
		now.mean += bin.mean
		done += bin.weight
		if now.n > 0 && done >= next/groups*s.weight*(1-1e-9) {
			all = append(all, Reliability{now.n, Number(now.mean / now.weight), Number(now.ones / now.weight)})
			now, next = oddsBin{}, math.Floor(groups*done/s.weight+1e-6)+1
		}
	}
	return all
}

// Gap returns the largest difference between the mean prediction and the share of ones
// over the groups of Reliability.
func (b *Binary) Gap() float64 {
	gap := 0.0
	for _, r := range b.Reliability {
		gap = max(gap, math.Abs(float64(r.Predicted-r.Actual)))
	}
	return gap
}
