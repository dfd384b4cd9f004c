package tune

import (
	"context"
	"errors"
	"time"
)

// A State is how far a trial is.
type State string

// The states of a trial. Done, pruned and failed are final.
const (
	Queued  State = "queued"
	Running State = "running"
	Done    State = "done"
	Pruned  State = "pruned" // given up at a rung
	Failed  State = "failed"
)

// A Trial is one evaluation of the objective.
type Trial struct {
	Number  int       `json:"number"` // from 0
	State   State     `json:"state"`
	Attempt int       `json:"attempt"` // how many times it was begun
	Worker  string    `json:"worker,omitempty"`
	Values  Values    `json:"values,omitempty"`
	Rungs   []Rung    `json:"rungs,omitempty"` // of this attempt, those below the full budget
	Score   *float64  `json:"score,omitempty"` // of a trial that is done; of a pruned one that of its last rung
	Problem string    `json:"problem,omitempty"`
	Began   time.Time `json:"began,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`

	Budget float64 `json:"-"` // what the objective may spend now, a share of the whole; it is told by it and not kept
}

// A Rung is what a trial scored at a part of the budget.
type Rung struct {
	Budget  float64 `json:"budget"`
	Score   float64 `json:"score"`
	Seconds float64 `json:"seconds"`
}

// Finished tells whether the trial's state is final.
func (t Trial) Finished() bool {
	return t.State == Done || t.State == Pruned || t.State == Failed
}

// maxDeaths is how many workers may die over a trial before it counts as failed:
// one that takes all memory would otherwise end every worker, one by one.
const maxDeaths = 5

// ErrLost says that the worker's lease ran out and the trial is another's.
var ErrLost = errors.New("tune: the trial is no longer this worker's")

// A Store keeps one study. Its methods are atomic, also between processes, and
// wait for a while where the storage is busy or away. A trial is known by its
// Number and Attempt: Assign, Beat, Climb, Release and Finish return ErrLost
// where it has been begun anew since.
type Store interface {
	// Define records the definition where there is none yet, and returns the
	// one on record.
	Define(ctx context.Context, definition string) (recorded string, err error)
	// Definition is the one on record, "" for none.
	Definition(ctx context.Context) (recorded string, err error)
	// Grow queues trials so that there are at least so many.
	Grow(ctx context.Context, trials int) error
	// Claim begins the first trial that is queued or whose lease has run out,
	// without the rungs of an earlier attempt, and counts those that are not
	// finished, this one included. It looks at the first so many trials alone,
	// for others may have queued more. Where none can be begun, Attempt is 0.
	Claim(ctx context.Context, worker string, trials int, lease time.Duration) (t Trial, unfinished int, err error)
	// Assign records the values of a trial that has none.
	Assign(ctx context.Context, t Trial) error
	// Beat renews the lease.
	Beat(ctx context.Context, t Trial, lease time.Duration) error
	// Climb records the rungs.
	Climb(ctx context.Context, t Trial) error
	// Release queues the trial again, with its values.
	Release(ctx context.Context, t Trial) error
	// Finish records State, Score and Problem. Doing it again changes nothing.
	Finish(ctx context.Context, t Trial) error
	// Trials are all, by their numbers.
	Trials(ctx context.Context) ([]Trial, error)
	Close() error
}

// OpenStore opens the study of a place: the URL of a PostgreSQL database, or else
// a file for SQLite.
func OpenStore(ctx context.Context, place string, patience time.Duration) (Store, error) {
	if IsPostgres(place) {
		return asStore(OpenPostgres(ctx, place, patience))
	}
	return asStore(OpenSQLite(ctx, place, patience))
}

func asStore[S Store](s S, err error) (Store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}
