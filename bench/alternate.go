package bench

import (
	"time"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
)

// A candidate does its work once and returns its speed, the amount of work per
// second.
type candidate func() (speed float64, err error)

// timed returns a candidate for work of the given amount.
func timed(amount float64, work func() error) candidate {
	return func() (float64, error) {
		began := time.Now()
		err := work()
		return amount / time.Since(began).Seconds(), err
	}
}

// alternate runs the candidates alternately and returns the best speed of each. It
// repeats until both sizes.repetitions and sizes.minTime are reached.
func (r *run) alternate(candidates ...candidate) ([]float64, error) {
	best := make([]float64, len(candidates))
	began := time.Now()
	for repetition := 0; repetition < r.sizes.repetitions || time.Since(began) < r.sizes.minTime; repetition++ {
		for i, c := range candidates {
			if err := r.ctx.Err(); err != nil {
				return nil, err
			}
			speed, err := c()
			if err != nil {
				return nil, err
			}
			best[i] = max(best[i], speed)
		}
	}
	return best, nil
}

// againstPeak alternates the work with plain multiply-adds on as many threads and
// returns the best speed of both. The multiply-adds run about as long as the work,
// within limits, because a short burst is more likely to be undisturbed on a busy
// machine. While their speed stays below an earlier peak, the machine is busy and
// the measurement is extended, up to three times as long.
func (r *run) againstPeak(threads int, amount float64, work func() error) (speed, peak float64, err error) {
	const shortest, longest = time.Millisecond, 50 * time.Millisecond
	began := time.Now()
	more := func(repetition int) bool {
		elapsed := time.Since(began)
		return repetition < r.sizes.repetitions || elapsed < r.sizes.minTime || peak < 0.95*r.peaks[threads] && elapsed < 3*r.sizes.minTime
	}
	for repetition := 0; more(repetition); repetition++ {
		if err := r.ctx.Err(); err != nil {
			return 0, 0, err
		}
		start := time.Now()
		if err := work(); err != nil {
			return 0, 0, err
		}
		elapsed := time.Since(start)
		speed = max(speed, amount/elapsed.Seconds())
		peak = max(peak, cpu.Peak(r.path, threads, max(shortest, min(longest, elapsed))))
	}
	r.peaks[threads] = max(r.peaks[threads], peak)
	return speed, peak, nil
}
