package solver

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// A far too large learning rate is reduced, or the failure is reported. All weights
// remain finite.
func TestDivergenceIsHandled(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{1e3, 1e18, 1e30} {
		p := threeCores.problem(t, 8, false)
		opt := defaults()
		opt.Solver, opt.LearningRate = "adam", rate
		r, err := Solve(t.Context(), p, opt)
		var diverged *DivergedError
		switch {
		case err != nil && !errors.As(err, &diverged):
			t.Errorf("rate %g: got error %v, want a DivergedError that names the epoch", rate, err)
		case err == nil && len(r.Warnings) == 0:
			t.Errorf("rate %g: got no error and no warning", rate)
		}
		checkReadable(t, strings.Join(append(r.Warnings, fmt.Sprint(err)), "\n"))
		if err != nil && !strings.Contains(err.Error(), "diverged in epoch") {
			t.Errorf("rate %g: got error %v, want a DivergedError that names the epoch", rate, err)
		}
		for _, v := range flatten(1, nil, p.Field) {
			if err == nil && (math.IsNaN(float64(v)) || math.IsInf(float64(v), 0)) {
				t.Fatalf("rate %g: got weight %g, want finite weights", rate, v)
			}
		}
	}
}

// checkReadable checks that a message contains no NaN, Inf or long number.
func checkReadable(t *testing.T, message string) {
	t.Helper()
	if bad := regexp.MustCompile(`NaN|Inf|[0-9]{5}| 1 times`).FindString(message); bad != "" {
		t.Errorf("got %q in the message %q", bad, message)
	}
}

func TestDivergedError(t *testing.T) {
	t.Parallel()
	const adam = "the error is not finite, even at a learning rate of 0.33; decrease fit.learning-rate, increase fit.lambda or use lower ranks in terms"
	for _, tc := range []struct {
		solver string
		p      Point
		cause  string
		path   string
	}{
		{"adam", Point{Score: math.NaN()}, adam, "fit.learning-rate"},
		{"adam", Point{Score: 1, Train: math.Inf(1)}, adam, "fit.learning-rate"},
		{"als", Point{Score: 12345.678901}, "the error grew to 1.2e+04 times the target's variance; increase fit.lambda or use lower ranks in terms", "fit.lambda"},
		{"cavi", Point{Score: math.NaN()}, "the error is not finite; use lower ranks in terms", "terms"},
	} {
		dr := &driver{opt: Options{Solver: tc.solver}, state: &State{Run: Run{Rate: 1.0 / 3}}}
		cause := dr.divergenceCause(tc.p)
		if cause != tc.cause {
			t.Errorf("%s: got cause %q, want %q", tc.solver, cause, tc.cause)
		}
		if got := fielderr.Path(fmt.Errorf("fit: %w", dr.divergedError("a", cause))); got != tc.path {
			t.Errorf("%s: got field path %q, want %q", tc.solver, got, tc.path)
		}
	}
}

// Without a penalty and with more weights than data, the systems are singular.
func TestNoPenaltyStaysFinite(t *testing.T) {
	t.Parallel()
	w := synthetic{sizes: []int{30, 30, 6}, grouping: [][][]int{{{0}, {1}, {2}}}, ranks: []int{6}, cells: 200, noise: 0.1}
	p := w.problem(t, 9, false)
	opt := defaults()
	opt.Ridge = &Ridge{Kind: Uniform, Lambda: 0}
	r := solve(t, p, opt)
	for _, v := range flatten(1, nil, p.Field) {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			t.Fatalf("got weight %g, want finite weights", v)
		}
	}
	if len(r.Warnings) == 0 {
		t.Error("got no warning about singular systems")
	}
}
