package tune

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// server is a PostgreSQL server for one test, reached by a socket in its folder.
type server struct {
	folder, program, url string
	process              *exec.Cmd
}

// startPostgres creates a database and starts its server. It skips the test if
// PostgreSQL is not installed.
func startPostgres(t *testing.T) *server {
	t.Helper()
	program := postgresProgram("postgres")
	if program == "" {
		t.Skip("PostgreSQL is not installed")
	}
	folder, err := os.MkdirTemp("", "kft") // the path of t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if err := giveToServer(folder); err != nil {
		t.Skipf("PostgreSQL refuses to run as root, and its own user is not available: %v", err)
	}
	s := &server{folder: folder, program: program, url: "postgres://kft@/postgres?host=" + folder}
	initdb := exec.Command(postgresProgram("initdb"), "-D", filepath.Join(folder, "data"), "-U", "kft", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
	initdb.Dir = folder
	asServer(initdb)
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	s.start(t)
	t.Cleanup(func() { s.stop() })
	return s
}

// postgresProgram finds a program of PostgreSQL in Debian's directories or on the
// path. It returns "" if there is none.
func postgresProgram(name string) string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) > 0 {
		return found[len(found)-1]
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return path
}

func (s *server) start(t *testing.T) {
	s.process = exec.Command(s.program, "-D", filepath.Join(s.folder, "data"), "-k", s.folder, "-c", "listen_addresses=", "-c", "fsync=off")
	s.process.Dir = s.folder
	asServer(s.process)
	if err := s.process.Start(); err != nil {
		t.Error(err)
	}
}

// stop ends the server immediately, like a crash, and waits for it.
func (s *server) stop() {
	s.process.Process.Signal(immediateStop)
	s.process.Wait()
}

func TestPostgres(t *testing.T) {
	server := startPostgres(t)
	open := func() *Postgres {
		s, err := OpenPostgres(t.Context(), server.url, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	store := open()
	study := openStudy(t, store, toyStudy())
	// The server stops and restarts while a trial runs.
	err := study.Work(t.Context(), 25, Worker{Objective: func(ctx context.Context, trial Trial) (float64, error) {
		if trial.Number == 12 {
			server.stop()
			server.start(t)
		}
		return scoreToy(ctx, trial)
	}})
	if err != nil {
		t.Fatal(err)
	}
	file := openStore(t, filepath.Join(t.TempDir(), "s.db"))
	if err := openStudy(t, file, toyStudy()).Work(t.Context(), 25, Worker{Objective: scoreToy}); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(printable(results(t, open()))), fmt.Sprint(printable(results(t, file))); got != want {
		t.Errorf("PostgreSQL: got\n%s\nwant, as in SQLite,\n%s", got, want)
	}
	other := toyStudy()
	other.Seed = 2
	if _, err := Open(t.Context(), store, other); err == nil || !strings.Contains(err.Error(), "seed is 1 in the store and 2 here") {
		t.Errorf("different study: got error %v", err)
	}
	wrong := strings.Replace(server.url, "kft@/postgres", "nobody:secret@/postgres", 1)
	if _, err := OpenPostgres(t.Context(), wrong, 0); err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), `role "nobody" does not exist`) {
		t.Errorf("unknown user: got error %v", err)
	}
	server.stop()
	if _, err := OpenPostgres(t.Context(), server.url, time.Millisecond); err == nil || !strings.Contains(err.Error(), "gave up after 1ms") {
		t.Errorf("no server: got error %v", err)
	}
}

// Errors about a URL do not contain its password.
func TestInvalidURLs(t *testing.T) {
	for location, want := range map[string]string{
		"postgres://u:secret@h/db?sslmode=bad":        "postgres://u:xxxxx@h/db: invalid database URL: sslmode is invalid",
		"postgres://h/db?password=secret&sslmode=bad": "postgres://h/db: invalid database URL: sslmode is invalid",
		"postgres://u:secret/x@h/db":                  "%2F",
		"postgres://u:secret%zz@h/db":                 "%25",
	} {
		if _, err := OpenPostgres(t.Context(), location, 0); err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", location, err, want)
		}
	}
}

// printable formats trials with scores instead of pointers.
func printable(trials []Trial) (lines []string) {
	for _, t := range trials {
		score := "-"
		if t.Score != nil {
			score = number(*t.Score)
		}
		lines = append(lines, fmt.Sprintln(t.Number, t.State, t.Values, score, t.Problem))
	}
	return lines
}
