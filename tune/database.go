package tune

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// database implements Store in the SQL common to SQLite and PostgreSQL. The
// dialect holds the differences.
type database struct {
	db             *sql.DB
	name           string // shown in messages
	patience       time.Duration
	attemptTimeout time.Duration // timeout of one attempt, after which it is retried; 0 means no timeout
	dialect
}

// dialect holds what differs between databases.
type dialect struct {
	placeholder string // prefix of a numbered placeholder
	now         string // expression for the clock shared by all workers, in milliseconds
	skipLocked  string // clause after SELECT that locks the row and skips rows locked by other transactions
	// transient reports whether an error may be temporary.
	transient func(error) bool
	// advice returns a hint that is appended to a permanent error. It may be nil.
	advice func(error) string
}

// Close closes the database.
func (s *database) Close() error { return s.db.Close() }

// rebind adapts a query to the dialect.
func (s *database) rebind(query string) string {
	return strings.NewReplacer("?", s.placeholder, "NOW", s.now, "SKIP", s.skipLocked).Replace(query)
}

// transact runs f in a transaction.
func (s *database) transact(ctx context.Context, f func(ctx context.Context, tx *sql.Tx) error) error {
	return s.withRetry(ctx, func(ctx context.Context) error {
		tx, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := f(ctx, tx); err != nil {
			tx.Rollback()
			return err
		}
		return tx.Commit()
	})
}

// withRetry runs work and retries it after transient errors. Work must use the
// context it is given, which is limited to one attempt.
func (s *database) withRetry(ctx context.Context, work func(ctx context.Context) error) error {
	silent := false
	transient := func(err error) bool { return silent || s.transient(err) }
	err := retry(ctx, s.patience, transient, func() error {
		if s.attemptTimeout == 0 {
			return work(ctx)
		}
		try, cancel := context.WithTimeout(ctx, s.attemptTimeout)
		defer cancel()
		err := work(try)
		silent = try.Err() != nil
		return err
	})
	switch {
	case err == nil, errors.Is(err, ErrLeaseLost):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if s.advice != nil {
		return fmt.Errorf("%s: %w%s", s.name, err, s.advice(err))
	}
	return fmt.Errorf("%s: %w", s.name, err)
}
