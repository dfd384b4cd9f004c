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
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// Postgres stores a study in a PostgreSQL database, for workers on several
// machines. Leases use the clock of the server. One database, or one schema
// selected by search_path in the URL, holds one study.
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

// openPatience limits the retries of the first connection, because the address
// may be wrong.
const openPatience = 10 * time.Second

// queryTimeout is short compared to a lease. A server that is cut off by the
// network does not answer, and a connection may keep waiting long after the
// server is reachable again.
const queryTimeout = 10 * time.Second

// IsPostgres reports whether the location of a study is a database: a URL, or keywords
// and values as libpq and psql take them, "host=db.example dbname=kft".
func IsPostgres(location string) bool {
	return isPostgresURL(location) || connectionKeyword.MatchString(location)
}

func isPostgresURL(location string) bool {
	return strings.HasPrefix(location, "postgres://") || strings.HasPrefix(location, "postgresql://")
}

// connectionKeyword matches a connection string by its first keyword. A file of such a
// name can be written with its folder: ./user=1.
var connectionKeyword = regexp.MustCompile(`^\s*(host|hostaddr|port|dbname|user|password|passfile|service|servicefile|connect_timeout|options|application_name|search_path|ssl[a-z]+|target_session_attrs)\s*=`)

// connectionPassword matches the passwords of a connection string.
var connectionPassword = regexp.MustCompile(`((?:ssl)?password)\s*=\s*(?:'(?:\\.|[^'\\])*'?|\S*)`)

// OpenPostgres opens the database at a location that IsPostgres accepts, such as
// postgres://user@host/name, and creates missing tables. While the server is unavailable, operations are retried
// for up to patience; 0 means one minute.
func OpenPostgres(ctx context.Context, location string, patience time.Duration) (*Postgres, error) {
	if patience <= 0 {
		patience = time.Minute
	}
	if _, err := url.Parse(location); err != nil && isPostgresURL(location) { // the error may contain part of the password
		return nil, errors.New("invalid database URL; percent-encode / ? # @ % and spaces in the user and password as %2F %3F %23 %40 %25 %20")
	}
	config, err := pgx.ParseConfig(location)
	if err != nil { // its text contains the whole URL
		if why := errors.Unwrap(err); why != nil {
			err = why
		} else {
			err = errors.New("a parameter after ? is invalid")
		}
		what := "database URL"
		if !isPostgresURL(location) {
			what = "connection string"
		}
		return nil, fmt.Errorf("%s: invalid %s: %w", RedactedLocation(location), what, err)
	}
	s := &Postgres{database{db: stdlib.OpenDB(*config), name: RedactedLocation(location), attemptTimeout: queryTimeout, dialect: dialect{
		placeholder: "$", now: "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)", skipLocked: "FOR UPDATE SKIP LOCKED", transient: postgresTransient}}}
	s.db.SetMaxOpenConns(2) // one for the worker, one for its heartbeat
	s.patience = min(patience, openPatience)
	err = s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		// The lock serializes creation: concurrent CREATE TABLE statements fail.
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", applicationID)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, postgresSchema); err != nil {
			return err
		}
		var columns int
		err := tx.QueryRowContext(ctx, "SELECT count(*) FROM pg_attribute WHERE attrelid = 'kft_trial'::regclass AND attname = 'rungs' AND NOT attisdropped").Scan(&columns)
		if err == nil && columns == 0 {
			err = errors.New("the study was created by an older version of this program; choose another database, or another schema with search_path in the URL")
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

// RedactedLocation returns the location of a study for display: a database without
// its password.
func RedactedLocation(location string) string {
	switch {
	case !IsPostgres(location):
		return location
	case !isPostgresURL(location):
		return connectionPassword.ReplaceAllString(location, "$1=xxxxx")
	}
	u, err := url.Parse(location)
	if err != nil {
		return "database"
	}
	u.RawQuery = ""
	return u.Redacted()
}

// postgresTransient reports whether an error may be temporary: a failed or lost
// connection, a server that is starting, stopping or out of resources, or
// conflicting transactions.
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
