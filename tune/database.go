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
	dialect
}

// dialect is what differs between databases.
type dialect struct {
	mark string // stands before the number of a parameter
	now  string // the clock that all workers share, in milliseconds
	skip string // after a SELECT: takes the row for this transaction, and passes over those that others took
	// transient tells which errors may pass.
	transient func(error) bool
}

// Close closes the database.
func (s *database) Close() error { return s.db.Close() }

// text is a query as the database wants it.
func (s *database) text(query string) string {
	return strings.NewReplacer("?", s.mark, "NOW", s.now, "SKIP", s.skip).Replace(query)
}

// change runs a transaction.
func (s *database) change(ctx context.Context, f func(tx *sql.Tx) error) error {
	return s.patiently(ctx, func() error {
		tx, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := f(tx); err != nil {
			tx.Rollback()
			return err
		}
		return tx.Commit()
	})
}

// patiently runs work, again and again where what is in its way may pass.
func (s *database) patiently(ctx context.Context, work func() error) error {
	err := retry(ctx, s.patience, s.transient, work)
	switch {
	case err == nil, errors.Is(err, ErrLost):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("%s: %w", s.name, err)
}
