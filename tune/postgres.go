package tune

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// Postgres keeps a study in a PostgreSQL database, for workers on any machines.
// Leases go by the server's clock. A database, or a schema of it named by
// search_path in the URL, holds one study.
type Postgres struct{ database }

const postgresSchema = `
CREATE TABLE IF NOT EXISTS kft_study (one INTEGER PRIMARY KEY CHECK (one = 1), definition TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS kft_trial (
	number  INTEGER PRIMARY KEY,
	state   TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'pruned', 'failed')),
	attempt INTEGER NOT NULL DEFAULT 0,
	deaths  INTEGER NOT NULL DEFAULT 0,
	worker  TEXT,
	lease   BIGINT,
	sample  TEXT,
	rungs   TEXT,
	score   DOUBLE PRECISION,
	problem TEXT,
	began   BIGINT,
	ended   BIGINT
);`

// openPatience is less than that of a study in work: a first call may be to a
// wrong address.
const openPatience = 10 * time.Second

// tryTime is short against a lease: a server that is cut off, not stopped, says
// nothing, and a connection that waits for it may do so long after it is back.
const tryTime = 10 * time.Second

// IsPostgres tells whether a place for a study is the URL of a database.
func IsPostgres(place string) bool {
	return strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://")
}

// OpenPostgres opens the database of a URL, postgres://user@host/name, and makes
// the tables where there are none. Where the server is away, what is asked of it
// waits so long; 0 is a minute.
func OpenPostgres(ctx context.Context, place string, patience time.Duration) (*Postgres, error) {
	if patience <= 0 {
		patience = time.Minute
	}
	if _, err := url.Parse(place); err != nil { // the error may have a part of the password
		return nil, errors.New("the URL of the database is none; in a user or password, / ? # @ % and spaces are written %2F %3F %23 %40 %25 %20")
	}
	config, err := pgx.ParseConfig(place)
	if err != nil { // whose text has the whole URL
		if why := errors.Unwrap(err); why != nil {
			err = why
		} else {
			err = errors.New("a setting behind ? is wrong")
		}
		return nil, fmt.Errorf("%s: the URL of the database cannot be used: %w", PlaceName(place), err)
	}
	s := &Postgres{database{db: stdlib.OpenDB(*config), name: PlaceName(place), try: tryTime, dialect: dialect{
		mark: "$", now: "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)", skip: "FOR UPDATE SKIP LOCKED", transient: postgresTransient}}}
	s.db.SetMaxOpenConns(2) // the worker's and its heartbeat's
	s.patience = min(patience, openPatience)
	err = s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		// One at a time: two that make the same table fail.
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", applicationID)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, postgresSchema); err != nil {
			return err
		}
		var columns int
		err := tx.QueryRowContext(ctx, "SELECT count(*) FROM pg_attribute WHERE attrelid = 'kft_trial'::regclass AND attname = 'rungs' AND NOT attisdropped").Scan(&columns)
		if err == nil && columns == 0 {
			err = errors.New("a study of an older version of this program; choose another database, or a schema by search_path in the URL")
		}
		return err
	})
	if err != nil {
		s.Close()
		return nil, err
	}
	s.patience = patience
	return s, nil
}

// PlaceName is the place of a study as it may be shown: a URL without its
// password.
func PlaceName(place string) string {
	if !IsPostgres(place) {
		return place
	}
	u, err := url.Parse(place)
	if err != nil {
		return "the database"
	}
	u.RawQuery = ""
	return u.Redacted()
}

// postgresTransient: no connection, or one that was lost; a server that starts,
// stops or is out of something; two transactions in each other's way.
func postgresTransient(err error) bool {
	var server *pgconn.PgError
	if !errors.As(err, &server) {
		var network net.Error
		var connect *pgconn.ConnectError
		return errors.As(err, &network) || errors.As(err, &connect) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
			errors.Is(err, driver.ErrBadConn) || errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err)
	}
	for _, class := range []string{"08", "40", "53", "57P"} {
		if strings.HasPrefix(server.Code, class) {
			return true
		}
	}
	return false
}
