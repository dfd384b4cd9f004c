package tune

import (
	"context"
	"errors"
	"time"
)

// maxDeaths is the number of workers that may die while running a trial before it
// is marked as failed. Otherwise a trial that exhausts the memory would kill
// every worker in turn.
const maxDeaths = 5

// ErrLeaseLost reports that the worker's lease expired and another worker took over the trial.
var ErrLeaseLost = errors.New("tune: the lease expired and another worker holds the trial")

// A Store persists one study. Its methods are atomic, also between processes,
// and retry for a limited time while the storage is busy or unavailable. Number
// and Attempt identify a trial: Assign, RenewLease, RecordRungs, Release and Finish return
// ErrLeaseLost if the trial was started again since.
type Store interface {
	// Define records the definition if the store has none, and returns the
	// stored one.
	Define(ctx context.Context, definition string) (recorded string, err error)
	// Definition returns the stored definition, or "" if there is none.
	Definition(ctx context.Context) (recorded string, err error)
	// Grow queues trials until there are at least the given number.
	Grow(ctx context.Context, trials int) error
	// Claim starts the first trial that is queued or whose lease has expired,
	// and discards the rungs of earlier attempts. It also returns the number of
	// unfinished trials including this one. It considers only the first given
	// number of trials, because other workers may have queued more. If no trial
	// is available, the Attempt of the returned trial is 0.
	Claim(ctx context.Context, worker string, trials int, lease time.Duration) (t Trial, unfinished int, err error)
	// Assign records the values of a trial that has none.
	Assign(ctx context.Context, t Trial) error
	// RenewLease extends the lease.
	RenewLease(ctx context.Context, t Trial, lease time.Duration) error
	// RecordRungs records the rungs.
	RecordRungs(ctx context.Context, t Trial) error
	// Release returns the trial to the queue. It keeps its values.
	Release(ctx context.Context, t Trial) error
	// Finish records State, Score and Problem. It is idempotent.
	Finish(ctx context.Context, t Trial) error
	// Trials returns all trials, ordered by number.
	Trials(ctx context.Context) ([]Trial, error)
	Close() error
}

// OpenStore opens the study at a location: the URL of a PostgreSQL database, or
// otherwise a file for SQLite.
func OpenStore(ctx context.Context, location string, patience time.Duration) (Store, error) {
	if IsPostgres(location) {
		return asStore(OpenPostgres(ctx, location, patience))
	}
	return asStore(OpenSQLite(ctx, location, patience))
}

func asStore[S Store](s S, err error) (Store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}
