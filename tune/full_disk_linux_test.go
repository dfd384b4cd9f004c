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

// tinyDisk is a file system of its own, with room for a small study.
func tinyDisk(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=512k"); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// fill takes all that is left; free gives it back.
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

// A disk that is full for a while holds a study up; one that stays full ends the
// work, and what had finished is kept.
func TestStudyOnAFullDisk(t *testing.T) {
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
			met := 0
			store.transient = func(err error) bool {
				if met++; met == 3 && !stays {
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
						t.Fatalf("no %q in: %v", part, err)
					}
				}
				store.Close()
				free = fill(t, folder) // also what closing has freed
				if _, err := OpenSQLite(t.Context(), file, time.Millisecond); err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "full") {
					t.Errorf("opened on a full disk: %v", err)
				}
				free()
				store = openStore(t, file)
				for i, trial := range results(t, store) {
					if trial.Finished() != (i < last) {
						t.Errorf("after the full disk: %+v", trial)
					}
				}
				newClock(store).add(61 * time.Second)
				err = openStudy(t, store, toyStudy()).Work(t.Context(), trials, worker)
				want = 2
			} else if met < 3 {
				t.Errorf("the disk was met full %d times", met)
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, n := range calls {
				if n != 1 && !(i == last && n == want) {
					t.Errorf("trial %d was run %d times", i, n)
				}
			}
			if got, want := fmt.Sprint(printable(results(t, store))), fmt.Sprint(printable(results(t, undisturbed))); got != want {
				t.Errorf("on the full disk:\n%s\nundisturbed:\n%s", got, want)
			}
		})
	}
}

// What is exported to a full disk does not harm what was exported before.
func TestExportToAFullDisk(t *testing.T) {
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
	for name, write := range map[string]func(io.Writer) error{"journal": recorded(40).WriteJournal, "csv": recorded(400).WriteCSV, "svg": recorded(400).WriteSVG, "png": recorded(40).WritePNG} {
		if err := atomicfile.Write(file, write); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Errorf("the old file was changed: %v", err)
	}
	free()
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if err := atomicfile.Write(file, recorded(40).WriteJournal); err != nil {
		t.Error(err)
	}
}
