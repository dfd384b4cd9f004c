package tune

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// database is a Store in SQL, as SQLite and PostgreSQL both understand it; what
// they say differently is in dialect.
type database struct {
	db       *sql.DB
	name     string // for messages
	patience time.Duration
	try      time.Duration // after which one that hears nothing is given up and made again; 0 is never
	dialect
}

// dialect is what differs between databases.
type dialect struct {
	mark string // stands before the number of a parameter
	now  string // the clock that all workers share, in milliseconds
	skip string // after a SELECT: takes the row for this transaction, and passes over those that others took
	// transient tells which errors may pass.
	transient func(error) bool
	// advice, where there is some, goes after an error that did not pass.
	advice func(error) string
}

// Close closes the database.
func (s *database) Close() error { return s.db.Close() }

// text is a query as the database wants it.
func (s *database) text(query string) string {
	return strings.NewReplacer("?", s.mark, "NOW", s.now, "SKIP", s.skip).Replace(query)
}

// change runs a transaction.
func (s *database) change(ctx context.Context, f func(ctx context.Context, tx *sql.Tx) error) error {
	return s.patiently(ctx, func(ctx context.Context) error {
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

// patiently runs work, again and again where what is in its way may pass. Work
// has to use the context that it is given, which ends with the try.
func (s *database) patiently(ctx context.Context, work func(ctx context.Context) error) error {
	silent := false
	transient := func(err error) bool { return silent || s.transient(err) }
	err := retry(ctx, s.patience, transient, func() error {
		if s.try == 0 {
			return work(ctx)
		}
		try, cancel := context.WithTimeout(ctx, s.try)
		defer cancel()
		err := work(try)
		silent = try.Err() != nil
		return err
	})
	switch {
	case err == nil, errors.Is(err, ErrLost):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if s.advice != nil {
		return fmt.Errorf("%s: %w%s", s.name, err, s.advice(err))
	}
	return fmt.Errorf("%s: %w", s.name, err)
}
