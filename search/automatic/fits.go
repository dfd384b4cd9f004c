package automatic

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// keepModel drops the models of all specifications but the present one.
func (c *chooser) keepModel() {
	_, present := compared(c.spec, nil)
	for key, one := range c.scores {
		if key != present {
			one.model = nil
		}
	}
}

// givenModel returns the model of the present specification on the given division. Its noise may be constant where it is to
// be chosen.
func (c *chooser) givenModel(ctx context.Context) (*model.Model, error) {
	informed, err := c.informedModes()
	if err != nil {
		return nil, err
	}
	s, key := compared(c.spec, informed)
	known := c.scoreOf(key)
	if known.model == nil && len(known.divisions) > 0 || len(informed) > 0 { // the variant is not chosen yet
		m, _, err := c.fitModel(ctx, c.spec, c.data, c.threads())
		return m, err
	}
	c.measureAll(ctx, []*score{known}, []spec.Spec{s}, []int{0}, 1, func(int) {})
	return known.model, known.err
}

// threadsOfSample is the number of threads that a fit on a sample uses well. With more, its loops
// wait longer than they work, so fits run at the same time.
const threadsOfSample = 4

// workers returns how many of n fits run at the same time, and on how many threads each. The loops of a fit of
// few rows are too short for several threads. Those of other fits may have all threads: the last fit would have
// a part of them otherwise when the rest have ended.
func (c *chooser) workers(n int) (fits, threads int) {
	all := c.threads()
	switch {
	case c.opt.Ranks != nil || c.opt.Memory > 0:
		return 1, all
	case c.rows > c.effort.rows:
		return max(1, min(n, all/threadsOfSample)), all
	}
	fits = max(1, min(n, all))
	return fits, all / fits
}

// threads returns the number of threads of all fits together.
func (c *chooser) threads() int {
	if c.opt.Threads < 1 {
		return runtime.GOMAXPROCS(0)
	}
	return c.opt.Threads
}

// fit is a short fit on a sample of rows. It returns the CRPS on the validation set.
func (c *chooser) fit(ctx context.Context, s spec.Spec, data *fitdata.Data) (float64, *train.Report, error) {
	_, r, err := c.fitModel(ctx, s, data, c.threads())
	if err != nil {
		return 0, nil, err
	}
	return validCRPS(r), r, nil
}

// validCRPS returns the CRPS on the validation set; of a point estimate, which has no distribution, the mean absolute error.
func validCRPS(r *train.Report) float64 {
	if r.Valid.Calibration == nil {
		return r.Valid.MAE
	}
	return float64(r.Valid.Calibration.CRPS)
}

// fitModel is a short fit on a sample of rows, with some threads.
func (c *chooser) fitModel(ctx context.Context, s spec.Spec, data *fitdata.Data, threads int) (*model.Model, *train.Report, error) {
	if len(c.folds) == 1 || c.future() { // other fits of a small table are fast
		s.Fit.Sweeps = min(s.Fit.Sweeps, c.effort.sweeps)
	}
	s = s.Clone()
	s.Fill()
	opt := c.opt
	opt.Threads = threads
	opt.TimeBudget = time.Duration(comparisonBudget / comparisonFits * float64(opt.TimeBudget))
	if opt.Checkpoint != "" {
		opt.TimeBudget = 0 // a fit that is resumed must choose the same
	}
	opt.Checkpoint, opt.Resume, opt.Progress, opt.Compare = "", false, nil, true
	// The final fit must find the optimum that was compared, so a fit on its division leaves out the same rows.
	opt.HoldOut = train.HasCorrection(c.spec.Uncertainty, c.data.Count(dataset.Valid)) || data == c.data && c.splits() && !c.future()
	if c.rows > c.effort.rows {
		opt.Share = cmp.Or(opt.Share, 1) * float64(c.effort.rows) / float64(c.rows)
	}
	return train.Fit(ctx, s, data, opt)
}
