package bench

import (
	"time"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
)

// A contender does its work once and returns its speed: how much of it that
// makes a second.
type contender func() (speed float64, err error)

// timed makes a contender of work that amounts to amount.
func timed(amount float64, work func() error) contender {
	return func() (float64, error) {
		began := time.Now()
		err := work()
		return amount / time.Since(began).Seconds(), err
	}
}

// contest lets contenders take turns and returns the best speed of each. It
// goes on for sizes.turns turns and sizes.enough time, whichever is later.
func (r *run) contest(contenders ...contender) ([]float64, error) {
	best := make([]float64, len(contenders))
	began := time.Now()
	for turn := 0; turn < r.sizes.turns || time.Since(began) < r.sizes.enough; turn++ {
		for i, c := range contenders {
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

// againstPeak lets work, which amounts to amount, take turns with plain
// multiply-adds on as many threads, and returns the best speed of both. The
// multiply-adds go on about as long as the work does, within limits: on a busy
// machine a short burst has better chances to be left alone. While they stay
// behind what was seen of them before, the machine is busy, and more turns are
// taken, up to three times as long.
func (r *run) againstPeak(threads int, amount float64, work func() error) (speed, peak float64, err error) {
	const shortest, longest = time.Millisecond, 50 * time.Millisecond
	began := time.Now()
	more := func(turn int) bool {
		elapsed := time.Since(began)
		return turn < r.sizes.turns || elapsed < r.sizes.enough || peak < 0.95*r.peaks[threads] && elapsed < 3*r.sizes.enough
	}
	for turn := 0; more(turn); turn++ {
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
