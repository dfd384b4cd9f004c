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

// SQLite stores a study in one file, for workers on one machine. Every change is
// a transaction that is on disk when the call returns. While the file is open,
// two more files with the suffixes -wal and -shm exist next to it.
type SQLite struct{ database }

const (
	// applicationID identifies SQLite files that hold studies: "kftS".
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

// OpenSQLite opens the file of a study, or creates it. While the database is busy
// or the disk is full, operations are retried for up to patience; 0 means one
// minute.
func OpenSQLite(ctx context.Context, file string, patience time.Duration) (*SQLite, error) {
	if patience <= 0 {
		patience = time.Minute
	}
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s: the directory %s does not exist; create it or choose another file", file, filepath.Dir(path))
	}
	path = filepath.ToSlash(path)
	if path[0] != '/' {
		path = "/" + path // a drive letter
	}
	source := url.URL{Scheme: "file", Path: path}
	source.RawQuery = url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(1000)", "synchronous(full)"}}.Encode()
	db, err := sql.Open("sqlite", source.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	db.SetMaxOpenConns(1)
	s := &SQLite{database{db: db, name: file, patience: patience, dialect: dialect{placeholder: "?", now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)", transient: sqliteTransient, advice: sqliteAdvice}}}
	if err := s.prepare(ctx); err != nil {
		db.Close()
		return nil, err
	}
	return s, nil
}

// prepare creates the tables of a new file and rejects files that hold no study.
func (s *SQLite) prepare(ctx context.Context) error {
	err := s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
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
			return fmt.Errorf("the study has version %d, but this program supports version %d; choose another file", version, schemaVersion)
		}
		return nil
	})
	if code(err) == sqlite3.SQLITE_NOTADB {
		return fmt.Errorf("%s: not a study or any other database; choose another file", s.name)
	}
	if err != nil {
		return err
	}
	// WAL allows readers while a writer is active. It cannot be set within a transaction.
	return s.withRetry(ctx, func(ctx context.Context) error {
		_, err := s.db.ExecContext(ctx, "PRAGMA journal_mode = wal")
		return err
	})
}

// code returns SQLite's primary result code, or 0 for other errors.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// sqliteTransient reports whether an error may be temporary: a lock held by
// another process, a full disk, or storage that is unavailable.
func sqliteTransient(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
		return true
	}
	return false
}

// sqliteAdvice returns a hint for I/O errors, which are usually due to a full disk.
func sqliteAdvice(err error) string {
	if code(err) == sqlite3.SQLITE_IOERR {
		return "; check that the disk is not full and is available"
	}
	return ""
}
