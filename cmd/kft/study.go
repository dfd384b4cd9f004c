package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/tune"
)

// studyCommand shows and exports the trials of a search.
type studyCommand struct {
	Show   studyShow   `cmd:"" help:"List the trials of a study and the best of them."`
	Export studyExport `cmd:"" help:"Write a study as JSON, CSV or an Optuna journal."`
}

// checkStudy returns an error for a location that is neither a file nor the URL of a
// PostgreSQL database. The error does not contain the URL, which may have a password.
func checkStudy(location string) error {
	scheme, _, _ := strings.Cut(location, ":")
	isURL := strings.Contains(location, "://") || strings.HasPrefix(strings.ToLower(scheme), "postgres")
	switch {
	case location == "" || location == "-":
		return usagef("%q is not a location of a study; use a file, or postgres://user@host/database", location)
	case isURL && strings.Contains(location, ":") && !tune.IsPostgres(location):
		return usagef("invalid location of a study, %s:...; use a file, or postgres://user@host/database", scheme)
	}
	return nil
}

// readTimeout is how long reading waits for a study that is busy or not reachable.
const readTimeout = 10 * time.Second

// readStudy reads an existing study.
func readStudy(e *env, file string) (tune.Record, error) {
	if err := checkStudy(file); err != nil {
		return tune.Record{}, err
	}
	if !tune.IsPostgres(file) {
		switch info, err := os.Stat(file); {
		case err != nil:
			return tune.Record{}, fmt.Errorf("%s: %v; create a study with kft tune", file, cause(err))
		case info.IsDir():
			return tune.Record{}, fmt.Errorf("%s is a folder; use the file of a study", file)
		case info.Size() == 0: // reading must not turn it into a study
			return tune.Record{}, fmt.Errorf("%s: the file is empty; create a study with kft tune", file)
		}
	}
	store, err := tune.OpenStore(e.ctx, file, readTimeout)
	if err != nil {
		return tune.Record{}, err
	}
	defer store.Close()
	r, err := tune.Read(e.ctx, store)
	if err != nil {
		return r, fmt.Errorf("%s: %w", tune.RedactedLocation(file), err)
	}
	return r, nil
}
