package fitrecord

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// leastR2 is the R2 on the validation set below which a posterior is reported as worse
// than a constant. R2 is slightly negative by chance.
const leastR2 = -0.01

// BehindConstant returns a warning if a posterior predicts the validation set worse than a constant
// does, otherwise "". The solver compares scores on the modelling scale, which say little about a few
// means that are far too large on the user's scale.
func (r Record) BehindConstant() string {
	if r.Valid.N == 0 || !(r.Valid.R2 < leastR2) {
		return ""
	}
	return fmt.Sprintf("the model predicts the validation set worse than a constant does (R2 %.4g); do not use it; another specification or one of the formulas predicts better", r.Valid.R2)
}

// Covariates that explain almost all of the target are often computed from it.
const (
	revealingR2    = 0.97
	revealingShare = 0.9 // of covariates together
	namedShare     = 0.2 // of one that is named
)

// RevealingCovariates returns a warning about covariates of a table that explain almost all of the target, otherwise "": the tax of a
// wage is not known before the wage.
func (r Record) RevealingCovariates(modes []dataset.Mode) string {
	if r.Valid.N == 0 || !(r.Valid.R2 >= revealingR2 || r.Valid.R2Scale >= revealingR2) { // one large row may hide it from one of them
		return ""
	}
	var names []string
	share := 0.0
	for _, t := range r.Terms {
		ofTable := func(m dataset.Mode) bool { return m.Name == t.Term && m.Covariate() && !m.Computed() }
		if !slices.ContainsFunc(modes, ofTable) {
			continue
		}
		if share += t.Share; t.Share >= namedShare {
			names = append(names, t.Term)
		}
	}
	if share < revealingShare || len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("almost all of the target is explained by %s; if it is computed from the target, or not known before it, leave it out of data.covariates", strings.Join(names, " and "))
}
