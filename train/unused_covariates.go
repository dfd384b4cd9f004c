package train

import "fmt"

// warnUnusedCovariates warns about covariates that no term uses.
func (r *run) warnUnusedCovariates() {
	for at, mode := range r.data.Table().Modes {
		if mode.Covariate() && !r.model.UsesMode(at) && !r.opt.Chosen {
			r.warnings = append(r.warnings, fmt.Sprintf("the covariate %s has no effect, because no term uses it; add a term such as %s", mode.Name, mode.Name))
		}
	}
}
