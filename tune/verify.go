package tune

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
)

// Verify returns an error unless a store holds a study whose definition and trials can
// be read and agree: the space is valid, trials are numbered from 0, and finished ones
// have finite scores and values that the space allows.
func Verify(ctx context.Context, store Store) error {
	if s, ok := store.(*SQLite); ok {
		if err := s.checkIntegrity(ctx); err != nil {
			return err
		}
	}
	r, err := Read(ctx, store)
	if err != nil {
		return err
	}
	if goal := Goal(r.Fact("goal")); goal != Minimize && goal != Maximize {
		return fmt.Errorf("not a valid study: the goal is %q", goal)
	}
	space, err := r.Space()
	if err != nil {
		return fmt.Errorf("not a valid study: %w", err)
	}
	for i, t := range r.Trials {
		if err := t.verify(i, space); err != nil {
			return fmt.Errorf("not a valid study: trial %d: %w", i+1, err)
		}
	}
	return nil
}

func (t Trial) verify(number int, space Space) error {
	if t.Number != number {
		return fmt.Errorf("it has the number %d", t.Number+1)
	}
	if t.Attempt < 0 {
		return fmt.Errorf("it has the attempt %d", t.Attempt)
	}
	if t.Score != nil && (math.IsNaN(*t.Score) || math.IsInf(*t.Score, 0)) {
		return fmt.Errorf("its score is %g", *t.Score)
	}
	if t.State == Done && t.Score == nil {
		return errors.New("it is done without a score")
	}
	if t.Values == nil {
		return nil
	}
	_, err := space.point(t.Values)
	return err
}

// checkIntegrity lets SQLite check its own structures.
func (s *SQLite) checkIntegrity(ctx context.Context) error {
	var result string
	err := s.db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&result)
	switch {
	case errors.Is(err, sql.ErrNoRows) || err == nil && result == "ok":
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return fmt.Errorf("%s: the database is damaged: %s", s.name, result)
}
