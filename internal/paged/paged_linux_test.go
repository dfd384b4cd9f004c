package paged

import (
	"errors"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

func open(t *testing.T, limit int64) *Store {
	t.Helper()
	s, err := Open(t.TempDir(), 1<<20, limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Arrays keep their values when their pages leave the memory of the process.
func TestArraysKeepValues(t *testing.T) {
	t.Parallel()
	s := open(t, 1) // all pages leave all the time
	const n = 3 << 20
	floats, codes, bytes := Make[float32](s, n), Make[int32](s, n), Make[uint8](s, n)
	parallel.Blocks(2, n, func(from, to int) {
		for i := from; i < to; i++ {
			floats[i], codes[i], bytes[i] = float32(i)/3, int32(i), uint8(i)
		}
	})
	s.drop()
	for i := range n {
		if floats[i] != float32(i)/3 || codes[i] != int32(i) || bytes[i] != uint8(i) {
			t.Fatalf("entry %d: got %g, %d, %d", i, floats[i], codes[i], bytes[i])
		}
	}
	if got, want := s.Size(), int64(9*n); got != want {
		t.Errorf("got %d bytes, want %d", got, want)
	}
	Free(s, codes)
	Free(s, make([]int32, n)) // is not in the store
	if got, want := s.Size(), int64(5*n); got != want {
		t.Errorf("got %d bytes after Free, want %d", got, want)
	}
}

// Dropped pages are not in the memory of the process.
func TestDropLowersResidentMemory(t *testing.T) {
	s := open(t, 1<<62)
	status, err := os.Open("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	defer status.Close()
	const size = 256 << 20
	array := Make[uint8](s, size)
	for i := range array {
		array[i] = 1
	}
	before := resident(status)
	s.drop()
	if after := resident(status); before-after < size*3/4 {
		t.Errorf("%d MiB are resident before and %d MiB after", before>>20, after>>20)
	}
}

// Arrays that are kept stay in memory, and not in the file.
func TestKeptArraysStay(t *testing.T) {
	s := open(t, 1) // all pages leave all the time
	const n = 3 << 20
	kept, small, none := Keep[float32](s, n), Keep[float32](s, 10), Keep[float32](nil, n)
	for i := range kept {
		kept[i] = float32(i)
	}
	s.drop()
	for i := range kept {
		if kept[i] != float32(i) {
			t.Fatalf("entry %d: got %g", i, kept[i])
		}
	}
	if len(s.regions) != 1 || s.Size() != 0 || len(small) != 10 || len(none) != n {
		t.Errorf("got %d regions, %d bytes in the file, lengths %d and %d", len(s.regions), s.Size(), len(small), len(none))
	}
	Free(s, kept)
	if len(s.regions) != 0 || s.Size() != 0 {
		t.Errorf("got %d regions and %d bytes in the file after Free", len(s.regions), s.Size())
	}
}

func TestSmallArraysAndNilStoresAreInMemory(t *testing.T) {
	t.Parallel()
	s := open(t, 1<<62)
	a, b := Make[float32](s, 10), Make[float32](nil, 1<<20)
	Free(s, a)
	Free(nil, b)
	if len(a) != 10 || len(b) != 1<<20 || s.Size() != 0 {
		t.Errorf("got lengths %d and %d, and %d bytes in the store", len(a), len(b), s.Size())
	}
}

func TestNoFileIsLeft(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s, err := Open(folder, 0, 1<<62)
	if err != nil {
		t.Fatal(err)
	}
	Make[float32](s, 1<<20)[0] = 1
	if names, err := os.ReadDir(folder); err != nil || len(names) > 0 {
		t.Errorf("while the store is open the folder has %v, error %v", names, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		folder string
		room   int64
		want   []string
	}{
		"full disk":  {t.TempDir(), 1 << 60, []string{"no room", "1099511627776 MiB are needed", "MiB are free"}},
		"no folder":  {"/no/such/folder", 1, []string{"/no/such/folder", "no such file"}},
		"in memory":  {"/dev/shm", 1, []string{"/dev/shm", "it is in memory"}},
		"not folder": {"/proc/self/statm", 1, []string{"/proc/self/statm"}},
	} {
		s, err := Open(test.folder, test.room, 1)
		if err == nil {
			s.Close()
			if name == "in memory" {
				t.Log("/dev/shm is not a file system in memory")
				continue
			}
			t.Errorf("%s: no error", name)
			continue
		}
		for _, text := range test.want {
			if name == "in memory" && errors.Is(err, os.ErrNotExist) {
				continue
			}
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: the error %q does not contain %q", name, err, text)
			}
		}
	}
}

// A page that cannot be read is an error of the function that deferred Recover, in whatever
// goroutine it is accessed.
func TestFailingDisk(t *testing.T) {
	t.Parallel()
	for _, threads := range []int{1, 4} {
		s := open(t, 1<<62)
		array := Make[float32](s, 1<<22)
		sum := func() (err error) {
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
			defer s.Recover(&err)
			parallel.Sum(threads, len(array), func(from, to int) float64 { return float64(slices.Max(array[from:to])) })
			return nil
		}
		if err := sum(); err != nil {
			t.Fatal(err)
		}
		if err := s.file.Truncate(0); err != nil {
			t.Fatal(err)
		}
		err := sum()
		var failed *Error
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), "16 MiB") {
			t.Errorf("%d threads: got %v", threads, err)
		}
	}
}

// A disk that becomes full is an error with figures.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := open(t, 1<<62)
	grow := func() (err error) {
		defer s.Recover(&err)
		Make[uint8](s, 1<<50)
		return nil
	}
	var failed *Error
	if err := grow(); !errors.As(err, &failed) {
		t.Errorf("got %v", err)
	}
}

// Recover leaves other panics alone.
func TestRecoverPassesOn(t *testing.T) {
	t.Parallel()
	s := open(t, 1<<62)
	defer func() {
		if got := recover(); got != "other" {
			t.Errorf("got %v", got)
		}
	}()
	var err error
	defer s.Recover(&err)
	panic("other")
}

// Arrays of a reserved store take memory where they are written only.
func TestReservedArrays(t *testing.T) {
	s := Reserve()
	status, err := os.Open("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	defer status.Close()
	const size = 256 << 20
	before := resident(status)
	array := Make[uint8](s, size)
	for i := range size / 8 {
		array[i] = 1
	}
	if grown := resident(status) - before; grown > size/2 || array[size-1] != 0 {
		t.Errorf("an eighth of %d MiB is written, and %d MiB are resident", size>>20, grown>>20)
	}
	Free(s, array)
	if len(s.regions) != 0 {
		t.Errorf("%d regions are left", len(s.regions))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
