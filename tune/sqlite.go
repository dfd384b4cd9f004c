package tune

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite keeps a study in one file, for workers on one machine. Every change is
// a transaction that is on disk when it returns; beside the file there are two
// more, -wal and -shm, while it is open.
type SQLite struct{ database }

const (
	// applicationID marks files that are studies: "kftS".
	applicationID = 0x6b667453
	schemaVersion = 2
	sqliteSchema  = `
CREATE TABLE kft_study (one INTEGER PRIMARY KEY CHECK (one = 1), definition TEXT NOT NULL) STRICT;
CREATE TABLE kft_trial (
	number  INTEGER PRIMARY KEY,
	state   TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'pruned', 'failed')),
	attempt INTEGER NOT NULL DEFAULT 0,
	deaths  INTEGER NOT NULL DEFAULT 0,
	worker  TEXT,
	lease   INTEGER,
	sample  TEXT,
	rungs   TEXT,
	score   REAL,
	problem TEXT,
	began   INTEGER,
	ended   INTEGER
) STRICT;`
)

// OpenSQLite opens the file of a study, or makes it. Where the database is busy
// or the disk full, what is asked of it waits so long; 0 is a minute.
func OpenSQLite(ctx context.Context, file string, patience time.Duration) (*SQLite, error) {
	if patience <= 0 {
		patience = time.Minute
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s: the folder %s is not there", file, filepath.Dir(path))
	}
	path = filepath.ToSlash(path)
	if path[0] != '/' {
		path = "/" + path // a drive's letter
	}
	source := url.URL{Scheme: "file", Path: path}
	source.RawQuery = url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(1000)", "synchronous(full)"}}.Encode()
	db, err := sql.Open("sqlite", source.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	db.SetMaxOpenConns(1)
	s := &SQLite{database{db: db, name: file, patience: patience, dialect: dialect{mark: "?", now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)", transient: sqliteTransient, advice: sqliteAdvice}}}
	if err := s.prepare(ctx); err != nil {
		db.Close()
		return nil, err
	}
	return s, nil
}

// prepare makes the tables of a new file and refuses files that are no studies.
func (s *SQLite) prepare(ctx context.Context) error {
	err := s.change(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var id, version, tables int
		row := tx.QueryRowContext(ctx, "SELECT a.application_id, v.user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id a, pragma_user_version v")
		if err := row.Scan(&id, &version, &tables); err != nil {
			return err
		}
		switch {
		case tables == 0:
			_, err := tx.ExecContext(ctx, fmt.Sprintf("%s PRAGMA application_id = %d; PRAGMA user_version = %d;", sqliteSchema, applicationID, schemaVersion))
			return err
		case id != applicationID:
			return errors.New("a database, but not a study; choose another file")
		case version != schemaVersion:
			return fmt.Errorf("a study of version %d, and this program knows version %d; choose another file", version, schemaVersion)
		}
		return nil
	})
	if code(err) == sqlite3.SQLITE_NOTADB {
		return fmt.Errorf("%s: not a study, nor any database; choose another file", s.name)
	}
	if err != nil {
		return err
	}
	// Readers and a writer at once; cannot be set within a transaction.
	return s.patiently(ctx, func(ctx context.Context) error {
		_, err := s.db.ExecContext(ctx, "PRAGMA journal_mode = wal")
		return err
	})
}

// code is SQLite's primary result code, 0 for other errors.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// sqliteTransient: another's lock, a full disk, a disk or
// a share that is away for a while.
func sqliteTransient(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		return true
	}
	return false
}

// sqliteAdvice: what SQLite calls an error of the disk is most often a full one.
func sqliteAdvice(err error) string {
	if code(err) == sqlite3.SQLITE_IOERR {
		return "; is the disk full, or away?"
	}
	return ""
}
