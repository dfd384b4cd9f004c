package tune

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
)

// tinyDisk mounts a separate file system with room for a small study.
func tinyDisk(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=512k"); err != nil {
		t.Skipf("cannot mount a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// fill uses up all free space; free releases it.
func fill(t *testing.T, folder string) (free func()) {
	t.Helper()
	file, err := os.Create(filepath.Join(folder, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for size := 4096; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = file.Write(make([]byte, size))
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(file.Name()); err != nil {
			t.Error(err)
		}
	}
}

// A temporarily full disk delays a study. A disk that stays full ends the work,
// and finished trials are kept.
func TestStudyOnFullDisk(t *testing.T) {
	const trials, last = 20, 12
	undisturbed := openStore(t, filepath.Join(t.TempDir(), "s.db"))
	if err := openStudy(t, undisturbed, toyStudy()).Work(t.Context(), trials, Worker{Objective: scoreToy}); err != nil {
		t.Fatal(err)
	}
	for _, stays := range []bool{false, true} {
		t.Run(fmt.Sprintf("stays=%v", stays), func(t *testing.T) {
			folder := tinyDisk(t)
			file := filepath.Join(folder, "s.db")
			store := openStore(t, file)
			newClock(store)
			var free func()
			var calls [trials]int
			worker := Worker{Objective: func(ctx context.Context, trial Trial) (float64, error) {
				if calls[trial.Number]++; trial.Number == last && calls[last] == 1 {
					free = fill(t, folder)
				}
				return scoreToy(ctx, trial)
			}}
			errorCount := 0
			store.transient = func(err error) bool {
				if errorCount++; errorCount == 3 && !stays {
					free()
				}
				return sqliteTransient(err)
			}
			if stays {
				store.patience = time.Millisecond
			}
			err := openStudy(t, store, toyStudy()).Work(t.Context(), trials, worker)
			want := 1
			if stays {
				for _, part := range []string{fmt.Sprintf("trial %d ended as done", last+1), "could not be recorded", file, "gave up after 1ms", "full"} {
					if err == nil || !strings.Contains(err.Error(), part) {
						t.Fatalf("got error %v, want it to contain %q", err, part)
					}
				}
				store.Close()
				free = fill(t, folder) // also the space freed by closing
				if _, err := OpenSQLite(t.Context(), file, time.Millisecond); err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "full") {
					t.Errorf("open on a full disk: got error %v, want one that names the file and a full disk", err)
				}
				free()
				store = openStore(t, file)
				for i, trial := range results(t, store) {
					if trial.Finished() != (i < last) {
						t.Errorf("after the full disk: got finished %v for trial %+v", trial.Finished(), trial)
					}
				}
				newClock(store).add(61 * time.Second)
				err = openStudy(t, store, toyStudy()).Work(t.Context(), trials, worker)
				want = 2
			} else if errorCount < 3 {
				t.Errorf("got %d errors of the full disk, want at least 3", errorCount)
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, n := range calls {
				if n != 1 && !(i == last && n == want) {
					t.Errorf("trial %d: got %d runs, want %d", i, n, want)
				}
			}
			if got, want := fmt.Sprint(printable(results(t, store))), fmt.Sprint(printable(results(t, undisturbed))); got != want {
				t.Errorf("with the full disk: got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A failed export to a full disk leaves the previous file unchanged.
func TestExportToFullDisk(t *testing.T) {
	folder := tinyDisk(t)
	file := filepath.Join(folder, "journal.log")
	if err := atomicfile.Write(file, recorded(5).WriteJournal); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	free := fill(t, folder)
	for name, write := range map[string]func(io.Writer) error{"journal": recorded(40).WriteJournal, "csv": recorded(400).WriteCSV, "svg": recorded(400).WriteSVG} {
		if err := atomicfile.Write(file, write); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: got error %v, want ENOSPC with the file name", name, err)
		}
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Errorf("the previous file was changed: %v", err)
	}
	free()
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("got files %v (%v), want only the export", entries, err)
	}
	if err := atomicfile.Write(file, recorded(40).WriteJournal); err != nil {
		t.Error(err)
	}
}
