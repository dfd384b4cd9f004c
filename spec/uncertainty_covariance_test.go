package spec

import (
	"strings"
	"testing"
)

// TestCovarianceNeedsAdam checks which specifications may have the paper's parametrisation
// of covariances.
func TestCovarianceNeedsAdam(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ covariance, inference, solver, want string }{
		{"paper", "multivariate", "adam", ""},
		{"triangular", "mean-field", "cavi", ""},
		{"paper", "multivariate", "cavi", "set uncertainty.inference to multivariate and fit.solver to adam"},
		{"paper", "mean-field", "adam", "set uncertainty.inference to multivariate and fit.solver to adam"},
		{"full", "multivariate", "adam", "uncertainty.covariance: "},
	} {
		s := Spec{Data: Data{Files: []string{"t.csv"}, Target: "y", Modes: []string{"a", "b"}}, Fit: Fit{Solver: c.solver},
			Uncertainty: Uncertainty{Inference: c.inference, Covariance: c.covariance}}
		s.Fill()
		if err := s.Validate(); (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got error %v", c, err)
		}
	}
}
