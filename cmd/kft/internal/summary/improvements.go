package summary

import (
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/solver"
)

// leastFall is the relative fall of the score in the last sweep from which more sweeps
// are worth their time.
const leastFall = 0.001

// improvements lists what may improve a model that is not good enough. Each has evidence
// in this fit: advice that sounds right, such as a higher rank, made models worse as often
// as better. A search measures instead.
func improvements(r *kft.Report) string {
	var try []string
	if fall := lastFall(r.History); (r.Stop == solver.AllSweeps || r.Stop == solver.Budget) && fall > leastFall {
		flag := "--sweeps"
		if r.Spec.Fit.Solver == "adam" {
			flag = "--epochs"
		}
		try = append(try, fmt.Sprintf("more %s or time, because the last %s still reduced the error by %.2g %%", flag, sweepNoun(r.Spec), 100*fall))
	}
	if _, given := r.Spec.Fit.Lambda.Value(); given && r.Spec.Fit.Solver != "cavi" && r.Valid.N > 0 {
		try = append(try, "--lambda auto, which chooses the penalty on the validation set")
	}
	return strings.Join(append(try, "kft tune, which measures other ranks, terms and scales on the validation set"), "; ")
}

// lastFall returns by how much the last sweep reduced the score, relative to the one
// before.
func lastFall(history []solver.Point) float64 {
	n := len(history)
	if n < 2 || !(history[n-2].Score > 0) {
		return 0
	}
	return 1 - history[n-1].Score/history[n-2].Score
}
