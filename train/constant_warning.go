package train

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/metrics"
)

// leastR2 is the R2 on the validation set below which a posterior is reported as worse
// than a constant. R2 is slightly negative by chance.
const leastR2 = -0.01

// constantWarning warns if a posterior predicts the validation set worse than a constant
// does. The solver compares scores on the modelling scale, which say little about a few
// means that are far too large on the user's scale.
func (r *run) constantWarning(valid metrics.Score) []string {
	if !r.spec.Uncertainty.Bayesian() || valid.N == 0 || !(valid.R2 < leastR2) {
		return nil
	}
	return []string{fmt.Sprintf("the model predicts the validation set worse than a constant does (R2 %.4g); do not use it; another specification or one of the formulas predicts better", valid.R2)}
}
