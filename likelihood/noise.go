package likelihood

import "math"

// Errors are what noise is fitted to: expected squared errors e = (y - E f)^2 + Var f,
// and weights. A row's noise variance is s2/w, so that w e estimates s2; rows of
// weight zero do not count. Nil weights mean one.
type Errors struct {
	Squared, Weight []float32
}

// at returns w e, and whether the row counts.
func (e Errors) at(i int) (float64, bool) {
	if e.Weight == nil {
		return float64(e.Squared[i]), true
	}
	return float64(e.Weight[i]) * float64(e.Squared[i]), e.Weight[i] > 0
}

// leastVariance keeps the noise of data that are fitted exactly from zero.
const leastVariance = 1e-30

// Constant is one noise variance for all rows.
type Constant struct {
	Variance float64 `json:"variance"`
}

// FitConstant returns s2 = mean(w e) over the rows that count; 1 where there are none.
func FitConstant(errors Errors) Constant {
	sum, count := 0.0, 0
	for i := range errors.Squared {
		if e, ok := errors.at(i); ok {
			sum += e
			count++
		}
	}
	if count == 0 {
		return Constant{Variance: 1}
	}
	return Constant{Variance: max(sum/float64(count), leastVariance)}
}

// LogLikelihood returns -1/2 sum [log(2 pi s2_n) + w e_n / s2_n] over the rows that count,
// variance giving s2 at a row: what noise models are compared by.
func (e Errors) LogLikelihood(variance func(row int) float64) float64 {
	sum := 0.0
	for i := range e.Squared {
		if squared, ok := e.at(i); ok {
			s2 := variance(i)
			sum -= math.Log(2*math.Pi*s2) + squared/s2
		}
	}
	return sum / 2
}
