package tune

import (
	"context"
	"fmt"
	"time"
)

// retry calls f until it succeeds, fails with an error that is not transient, or
// patience has elapsed. The pauses double from 10 ms to 1 s.
func retry(ctx context.Context, patience time.Duration, transient func(error) bool, f func() error) error {
	began, pause := time.Now(), 10*time.Millisecond
	for {
		err := f()
		if err == nil || ctx.Err() != nil || !transient(err) {
			return err
		}
		if time.Since(began)+pause > patience {
			return fmt.Errorf("gave up after %v: %w", patience, err)
		}
		if !wait(ctx, pause) {
			return err
		}
		pause = min(2*pause, time.Second)
	}
}

// wait reports whether d elapsed before ctx was cancelled.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
