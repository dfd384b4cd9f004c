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
func (s *database) Define(ctx context.Context, definition string) (recorded string, err error) {
	err = s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, s.rebind("INSERT INTO kft_study VALUES (1, ?1) ON CONFLICT DO NOTHING"), definition); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, "SELECT definition FROM kft_study").Scan(&recorded)
	})
	return recorded, err
}

// Definition implements Store.
func (s *database) Definition(ctx context.Context) (recorded string, err error) {
	err = s.withRetry(ctx, func(ctx context.Context) error {
		return s.db.QueryRowContext(ctx, "SELECT coalesce(max(definition), '') FROM kft_study").Scan(&recorded)
	})
	return recorded, err
}

// Grow implements Store.
func (s *database) Grow(ctx context.Context, trials int) error {
	return s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, s.rebind(`WITH RECURSIVE n(i) AS (SELECT 0 WHERE CAST(?1 AS INTEGER) > 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < CAST(?1 AS INTEGER))
			INSERT INTO kft_trial (number, state) SELECT i, 'queued' FROM n WHERE true ON CONFLICT DO NOTHING`), trials)
		return err
	})
}

// Claim implements Store.
func (s *database) Claim(ctx context.Context, worker string, trials int, lease time.Duration) (t Trial, unfinished int, err error) {
	err = s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		t = Trial{}
		problem := fmt.Sprintf("%d workers died running this trial (possibly out of memory)", maxDeaths)
		if _, err := tx.ExecContext(ctx, s.rebind(`UPDATE kft_trial SET state = 'failed', problem = ?1, ended = NOW WHERE state = 'running' AND lease < NOW AND deaths + 1 >= ?2`),
			problem, maxDeaths); err != nil {
			return err
		}
		var sample sql.NullString
		var began sql.NullInt64
		row := tx.QueryRowContext(ctx, s.rebind(`UPDATE kft_trial SET state = 'running', attempt = attempt + 1, deaths = deaths + CASE state WHEN 'running' THEN 1 ELSE 0 END,
				worker = ?1, lease = NOW + ?2, began = NOW, rungs = NULL
			WHERE number = (SELECT number FROM kft_trial WHERE number < ?3 AND (state = 'queued' OR state = 'running' AND lease < NOW) ORDER BY number LIMIT 1 SKIP)
			RETURNING number, attempt, sample, began`), worker, lease.Milliseconds(), trials)
		switch err := row.Scan(&t.Number, &t.Attempt, &sample, &began); {
		case err == nil:
			t.State, t.Worker, t.Began = Running, worker, timeOf(began)
			if t.Values, err = readJSON[Values](sample); err != nil {
				return fmt.Errorf("trial %d: %w", t.Number+1, err)
			}
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		return tx.QueryRowContext(ctx, s.rebind("SELECT count(*) FROM kft_trial WHERE number < ?1 AND state IN ('queued', 'running')"), trials).Scan(&unfinished)
	})
	return t, unfinished, err
}

// Assign implements Store.
func (s *database) Assign(ctx context.Context, t Trial) error {
	text, err := json.Marshal(t.Values)
	if err != nil {
		return err
	}
	return s.update(ctx, "UPDATE kft_trial SET sample = ?1 WHERE number = ?2 AND attempt = ?3 AND state = 'running'", string(text), t.Number, t.Attempt)
}

// RenewLease implements Store.
func (s *database) RenewLease(ctx context.Context, t Trial, lease time.Duration) error {
	return s.update(ctx, "UPDATE kft_trial SET lease = NOW + ?1 WHERE number = ?2 AND attempt = ?3 AND state = 'running'", lease.Milliseconds(), t.Number, t.Attempt)
}

// RecordRungs implements Store.
func (s *database) RecordRungs(ctx context.Context, t Trial) error {
	text, err := json.Marshal(t.Rungs)
	if err != nil {
		return err
	}
	return s.update(ctx, "UPDATE kft_trial SET rungs = ?1 WHERE number = ?2 AND attempt = ?3 AND state = 'running'", string(text), t.Number, t.Attempt)
}

// Release implements Store.
func (s *database) Release(ctx context.Context, t Trial) error {
	return s.update(ctx, "UPDATE kft_trial SET state = 'queued' WHERE number = ?1 AND attempt = ?2 AND state = 'running'", t.Number, t.Attempt)
}

// Finish implements Store.
func (s *database) Finish(ctx context.Context, t Trial) error {
	return s.update(ctx, `UPDATE kft_trial SET state = ?1, score = ?2, problem = ?3, ended = NOW
		WHERE number = ?4 AND attempt = ?5 AND (state = 'running' OR state = ?1 AND score IS NOT DISTINCT FROM ?2 AND problem = ?3)`,
		string(t.State), t.Score, t.Problem, t.Number, t.Attempt)
}

// update changes the row of a trial. It returns ErrLeaseLost if no row matches.
func (s *database) update(ctx context.Context, query string, args ...any) error {
	return s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, s.rebind(query), args...)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, ErrLeaseLost)
		}
		return nil
	})
}

// Trials implements Store.
func (s *database) Trials(ctx context.Context) (all []Trial, err error) {
	err = s.withRetry(ctx, func(ctx context.Context) error {
		all = nil
		rows, err := s.db.QueryContext(ctx, "SELECT number, state, attempt, coalesce(worker, ''), sample, rungs, score, coalesce(problem, ''), began, ended FROM kft_trial ORDER BY number")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var t Trial
			var sample, rungs sql.NullString
			var began, ended sql.NullInt64
			if err := rows.Scan(&t.Number, &t.State, &t.Attempt, &t.Worker, &sample, &rungs, &t.Score, &t.Problem, &began, &ended); err != nil {
				return err
			}
			if t.Values, err = readJSON[Values](sample); err != nil {
				return fmt.Errorf("trial %d: %w", t.Number+1, err)
			}
			if t.Rungs, err = readJSON[[]Rung](rungs); err != nil {
				return fmt.Errorf("trial %d: %w", t.Number+1, err)
			}
			t.Began, t.Ended = timeOf(began), timeOf(ended)
			all = append(all, t)
		}
		return rows.Err()
	})
	return all, err
}

func readJSON[T any](text sql.NullString) (v T, err error) {
	if text.Valid {
		err = json.Unmarshal([]byte(text.String), &v)
	}
	return v, err
}

func timeOf(milliseconds sql.NullInt64) time.Time {
	if !milliseconds.Valid {
		return time.Time{}
	}
	return time.UnixMilli(milliseconds.Int64).UTC()
}
