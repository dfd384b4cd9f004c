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

// againstPeak lets work, which is done amount times a call, take turns with
// plain multiply-adds on as many threads, and returns the best speed of both.
// The multiply-adds go on about as long as the work does, within limits: on a
// busy machine a short burst has better chances to be left alone.
func (r *run) againstPeak(threads int, amount float64, work func() error) (speed, peak float64, err error) {
	const shortest, longest = time.Millisecond, 50 * time.Millisecond
	duration := shortest
	best, err := r.contest(
		func() (float64, error) {
			began := time.Now()
			err := work()
			elapsed := time.Since(began)
			duration = max(shortest, min(longest, elapsed))
			return amount / elapsed.Seconds(), err
		},
		func() (float64, error) { return cpu.Peak(r.path, threads, duration), nil },
	)
	if err != nil {
		return 0, 0, err
	}
	return best[0], best[1], nil
}
