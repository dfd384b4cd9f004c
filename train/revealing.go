package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/model"
)

// Covariates that explain almost all of the target are often computed from it.
const (
	revealingR2    = 0.97
	revealingShare = 0.9 // of covariates together
	namedShare     = 0.2 // of one that is named
)

// revealingCovariates warns about covariates that explain almost all of the target: the tax of a
// wage is not known before the wage.
func (r *run) revealingCovariates(record *model.Record) []string {
	if record.Valid.N == 0 || !(record.Valid.R2 >= revealingR2 || record.Valid.R2Scale >= revealingR2) { // one large row may hide it from one of them
		return nil
	}
	var names []string
	share := 0.0
	for _, t := range record.Terms {
		ofTable := func(m dataset.Mode) bool { return m.Name == t.Term && m.Covariate() && !m.Computed() }
		if !slices.ContainsFunc(r.model.Modes(), ofTable) {
			continue
		}
		if share += t.Share; t.Share >= namedShare {
			names = append(names, t.Term)
		}
	}
	if share < revealingShare || len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("almost all of the target is explained by %s; if it is computed from the target, or not known before it, leave it out of data.covariates", strings.Join(names, " and "))}
}

// warnUnusedCovariates warns about covariates that no term uses.
func (r *run) warnUnusedCovariates() {
	for at, mode := range r.data.Table().Modes {
		if mode.Covariate() && !r.model.UsesMode(at) && !r.opt.Chosen {
			r.warnings = append(r.warnings, fmt.Sprintf("the covariate %s has no effect, because no term uses it; add a term such as %s", mode.Name, mode.Name))
		}
	}
}
