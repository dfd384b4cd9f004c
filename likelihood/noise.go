package likelihood

import "github.com/kernel-fried-tensor/kft/internal/parallel"

// Errors are the data that noise models are fitted to: expected squared errors
// e = (y - E f)^2 + Var f, and weights. The noise variance of a row is s2/w, so
// that w e estimates s2. Rows with weight 0 are ignored. Nil weights mean 1.
type Errors struct {
	Squared, Weight []float32
}

// at returns w e, and whether the row has a positive weight.
func (e Errors) at(i int) (float64, bool) {
	if e.Weight == nil {
		return float64(e.Squared[i]), true
	}
	return float64(e.Weight[i]) * float64(e.Squared[i]), e.Weight[i] > 0
}

// minVariance is the lower limit of noise variances, for data that are fitted
// exactly. Errors are in the unit of the target's spread, so it is relative to that.
const minVariance = 1e-24

// Constant is one noise variance for all rows.
type Constant struct {
	Variance float64 `json:"variance"`
}

// FitConstant returns s2 = mean(w e) over the rows with positive weight, 1 if
// there are none.
func FitConstant(errors Errors, threads int) Constant {
	t := parallel.Reduce(threads, len(errors.Squared), func(from, to int) (t pair) {
		for i := from; i < to; i++ {
			if e, ok := errors.at(i); ok {
				t[0] += e
				t[1]++
			}
		}
		return t
	}, pair.add)
	if t[1] == 0 {
		return Constant{Variance: 1}
	}
	return Constant{Variance: max(t[0]/t[1], minVariance)}
}
