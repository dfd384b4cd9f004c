package solver

import "github.com/kernel-fried-tensor/kft/tt"

// continuedSweeps is the maximum number of sweeps of a run that starts from the posterior of fewer observations. On 640,000
// liquor sales of 57 months 3, 5 and 9 sweeps after 3 months more gave the same forecasts (pinball 2.147,
// 2.146, 2.146), better ones than 31 sweeps from random weights (2.156).
const continuedSweeps = 5

// startFrom starts a posterior with Gaussian noise from that of a field which has learned from fewer of the
// observations. It reports whether it does.
func (a *cavi) startFrom(from *tt.Field) bool {
	d := a.d
	if from == nil || d.sites != nil || len(d.kernels) > 0 || d.givenNoise > 0 || d.givenPrior > 0 || !d.field.StartFrom(d.b, from) {
		return false
	}
	for _, s := range d.series {
		s.stale = true
	}
	a.from, a.points, d.noise[0] = true, false, 1
	a.evaluateAll()
	d.learnNoise(a.residuals.loss())
	if d.noiseWeights != nil {
		a.refreshNoiseWeights()
	}
	return true
}

// continues reports whether the run started from the posterior of fewer observations.
func (dr *driver) continues() bool {
	a, ok := dr.method.(*cavi)
	return ok && a.from
}
