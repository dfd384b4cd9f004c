package tune

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Define implements Store.
func (s *SQLite) Define(ctx context.Context, definition string) (recorded string, err error) {
	err = s.change(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO study VALUES (1, ?) ON CONFLICT DO NOTHING", definition); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, "SELECT definition FROM study").Scan(&recorded)
	})
	return recorded, err
}

// Definition implements Store.
func (s *SQLite) Definition(ctx context.Context) (recorded string, err error) {
	err = s.patiently(ctx, func() error {
		return s.db.QueryRowContext(ctx, "SELECT coalesce(max(definition), '') FROM study").Scan(&recorded)
	})
	return recorded, err
}

// Grow implements Store.
func (s *SQLite) Grow(ctx context.Context, trials int) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `WITH RECURSIVE n(i) AS (SELECT 0 WHERE ?1 > 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)
			INSERT INTO trial (number, state) SELECT i, 'queued' FROM n WHERE true ON CONFLICT DO NOTHING`, trials)
		return err
	})
}

// Claim implements Store.
func (s *SQLite) Claim(ctx context.Context, worker string, lease time.Duration) (t Trial, unfinished int, err error) {
	err = s.change(ctx, func(tx *sql.Tx) error {
		t = Trial{}
		now := s.now()
		problem := fmt.Sprintf("%d workers died over it; was it out of memory?", maxDeaths)
		if _, err := tx.ExecContext(ctx, `UPDATE trial SET state = 'failed', problem = ?, ended = ? WHERE state = 'running' AND lease < ? AND deaths + 1 >= ?`,
			problem, now.UnixMilli(), now.UnixMilli(), maxDeaths); err != nil {
			return err
		}
		var sample sql.NullString
		row := tx.QueryRowContext(ctx, `UPDATE trial SET state = 'running', attempt = attempt + 1, deaths = deaths + (state = 'running'), worker = ?1, lease = ?2, began = ?3
			WHERE number = (SELECT number FROM trial WHERE state = 'queued' OR state = 'running' AND lease < ?3 ORDER BY number LIMIT 1)
			RETURNING number, attempt, sample`, worker, now.Add(lease).UnixMilli(), now.UnixMilli())
		switch err := row.Scan(&t.Number, &t.Attempt, &sample); {
		case err == nil:
			t.State, t.Worker, t.Began = Running, worker, now
			if t.Values, err = readValues(sample); err != nil {
				return fmt.Errorf("trial %d: %w", t.Number, err)
			}
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		return tx.QueryRowContext(ctx, "SELECT count(*) FROM trial WHERE state IN ('queued', 'running')").Scan(&unfinished)
	})
	return t, unfinished, err
}

// Assign implements Store.
func (s *SQLite) Assign(ctx context.Context, t Trial) error {
	text, err := json.Marshal(t.Values)
	if err != nil {
		return err
	}
	return s.update(ctx, "UPDATE trial SET sample = ? WHERE number = ? AND attempt = ? AND state = 'running'", string(text), t.Number, t.Attempt)
}

// Beat implements Store.
func (s *SQLite) Beat(ctx context.Context, t Trial, lease time.Duration) error {
	return s.update(ctx, "UPDATE trial SET lease = ? WHERE number = ? AND attempt = ? AND state = 'running'", s.now().Add(lease).UnixMilli(), t.Number, t.Attempt)
}

// Release implements Store.
func (s *SQLite) Release(ctx context.Context, t Trial) error {
	return s.update(ctx, "UPDATE trial SET state = 'queued' WHERE number = ? AND attempt = ? AND state = 'running'", t.Number, t.Attempt)
}

// Finish implements Store.
func (s *SQLite) Finish(ctx context.Context, t Trial) error {
	return s.update(ctx, `UPDATE trial SET state = ?1, score = ?2, problem = ?3, ended = ?4
		WHERE number = ?5 AND attempt = ?6 AND (state = 'running' OR state = ?1 AND score IS ?2 AND problem IS ?3)`,
		string(t.State), t.Score, t.Problem, s.now().UnixMilli(), t.Number, t.Attempt)
}

// update changes the one row of a trial, or none where it is lost.
func (s *SQLite) update(ctx context.Context, query string, args ...any) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, query, args...)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, ErrLost)
		}
		return nil
	})
}

// Trials implements Store.
func (s *SQLite) Trials(ctx context.Context) (all []Trial, err error) {
	err = s.patiently(ctx, func() error {
		all = nil
		rows, err := s.db.QueryContext(ctx, "SELECT number, state, attempt, coalesce(worker, ''), sample, score, coalesce(problem, ''), began, ended FROM trial ORDER BY number")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var t Trial
			var sample sql.NullString
			var began, ended sql.NullInt64
			if err := rows.Scan(&t.Number, &t.State, &t.Attempt, &t.Worker, &sample, &t.Score, &t.Problem, &began, &ended); err != nil {
				return err
			}
			if t.Values, err = readValues(sample); err != nil {
				return fmt.Errorf("trial %d: %w", t.Number, err)
			}
			t.Began, t.Ended = instant(began), instant(ended)
			all = append(all, t)
		}
		return rows.Err()
	})
	return all, err
}

func readValues(text sql.NullString) (v Values, err error) {
	if text.Valid {
		err = json.Unmarshal([]byte(text.String), &v)
	}
	return v, err
}

func instant(milliseconds sql.NullInt64) time.Time {
	if !milliseconds.Valid {
		return time.Time{}
	}
	return time.UnixMilli(milliseconds.Int64).UTC()
}
