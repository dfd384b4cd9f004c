package train

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/spec"
)

// pagedRows is a number of rows whose arrays are in a store if there is one.
const pagedRows = 600_000

// pagedTable returns a table of random cells.
func pagedTable() tableio.Source {
	rng := rand.New(rand.NewPCG(1, 2))
	store, item, month, units := make([]int64, pagedRows), make([]int64, pagedRows), make([]int64, pagedRows), make([]float64, pagedRows)
	for i := range units {
		cell := int64(i) * 7919 % (60 * 900 * 24) // no cell twice
		store[i], item[i], month[i] = cell%60, cell/60%900, cell/(60*900)
		units[i] = float64(store[i]%7)/7 + float64(item[i]%11)*float64(month[i]%5)/20 + rng.NormFloat64()/2
	}
	table, err := dataset.NewColumns(dataset.IntColumn("store", store), dataset.IntColumn("item", item), dataset.IntColumn("month", month), dataset.FloatColumn("units", units))
	if err != nil {
		panic(err)
	}
	return tableio.Columns(table)
}

func pagedSpec(inference string) spec.Spec {
	s := spec.Spec{Data: spec.Data{Target: "units", Modes: []string{"store", "item", "month"}}, Terms: []string{"item,store,month:2", "store"},
		Fit: spec.Fit{Sweeps: 2}, Uncertainty: spec.Uncertainty{Inference: inference}}
	s.Fill()
	if inference == "map" {
		s.Fit.Ridge = "uniform"
		s.Fit.Lambda = spec.LambdaOf(1)
	}
	return s
}

// fewMiB is a limit below what the rows take in memory.
const fewMiB = 150 << 20

// A fit in pages has the same bits as one in memory.
func TestPagesGiveSameModel(t *testing.T) {
	for _, inference := range []string{"map", "mean-field"} {
		var want []byte
		for _, opt := range []Options{{}, {Memory: fewMiB}, {machine: fewMiB}, {machine: 1 << 40}} {
			limited := false
			opt.Threads, opt.Scratch = 2, t.TempDir()
			opt.Progress = func(e Event) { limited = limited || strings.Contains(e.Note, "it is limited to 150 MiB") }
			m, _, err := ReadAndFit(t.Context(), pagedSpec(inference), pagedTable(), opt)
			if err != nil {
				t.Fatal(err)
			}
			if want := opt.machine == fewMiB; limited != want {
				t.Errorf("%s, memory %d, machine %d: the note about the limit was sent: %t, want %t", inference, opt.Memory, opt.machine, limited, want)
			}
			var got bytes.Buffer
			if _, err := m.WriteTo(&got); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got.Bytes()
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%s: the model of a fit in pages differs", inference)
			}
		}
	}
}

// Without a folder for pages, a fit that needs them is refused with both reasons, and one that may need them is tried.
func TestNoFolderForPages(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for machine, want := range map[int64]string{fewMiB / 2: "MiB; allow more memory, or use lower ranks, fewer terms or fewer rows; pages on disk are not possible: ", 300 << 20: ""} {
		_, _, err := ReadAndFit(t.Context(), pagedSpec("map"), pagedTable(), Options{Threads: 2, machine: machine, Scratch: missing})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: got error %v, want %q", machine, err, want)
		}
	}
}

// A refit keeps the rows in pages as the first training does, and has the same bits as one in memory.
func TestPagesOfRefit(t *testing.T) {
	var want []byte
	for _, memory := range []int64{0, 160 << 20} {
		opt := Options{Threads: 2, Memory: memory, Scratch: t.TempDir()}
		data, err := Read(t.Context(), pagedSpec("mean-field"), pagedTable(), opt)
		if err != nil {
			t.Fatal(err)
		}
		m, report, err := Fit(t.Context(), pagedSpec("mean-field"), data, opt)
		if err != nil {
			t.Fatal(err)
		}
		paged := false
		opt.Progress = func(Event) {
			paged = paged || slices.ContainsFunc(openFiles(t), func(name string) bool { return strings.HasPrefix(name, opt.Scratch+"/") })
		}
		m, report, err = Refit(t.Context(), m, report, data, spec.RefitValid, opt)
		if err != nil || report.Refit == nil {
			t.Fatalf("limit %d: got the error %v, warnings %q", memory, err, report.Warnings)
		}
		if paged != (memory > 0) {
			t.Errorf("limit %d: pages on disk: %t", memory, paged)
		}
		var got bytes.Buffer
		if _, err := m.WriteTo(&got); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got.Bytes()
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Error("the model of a refit in pages differs")
		}
	}
}

// openFiles returns the names of the files that the process has open.
func openFiles(t *testing.T) (names []string) {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc")
	}
	for _, fd := range open {
		if name, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil {
			names = append(names, name)
		}
	}
	return names
}

// A refit that exceeds the limit is given up, and the model of the first training is kept.
func TestRefitBeyondLimit(t *testing.T) {
	data, err := Read(t.Context(), pagedSpec("mean-field"), pagedTable(), Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	first, report, err := Fit(t.Context(), pagedSpec("mean-field"), data, Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	m, again, err := Refit(t.Context(), first, report, data, spec.RefitValid, Options{Threads: 2, Memory: 20 << 20, Scratch: t.TempDir()})
	if err != nil || again.Refit != nil || !slices.ContainsFunc(again.Warnings, func(w string) bool { return strings.Contains(w, "more memory than the limit") }) {
		t.Fatalf("got the refit %v, the error %v and warnings %q", again.Refit, err, again.Warnings)
	}
	if m.Field() != first.Field() {
		t.Error("the model is not that of the first training")
	}
}

// Where the estimate of the first training shows that already, a note says so at the start, and the refit is not planned.
func TestRefitBeyondLimitIsKnownBefore(t *testing.T) {
	s := pagedSpec("mean-field")
	s.Fit.Refit = spec.RefitAll
	opt := Options{Threads: 2, Memory: 60 << 20, Scratch: t.TempDir()}
	for _, want := range []bool{true, false} {
		data, err := Read(t.Context(), s, pagedTable(), opt)
		if err != nil {
			t.Fatal(err)
		}
		note := ""
		opt.Progress = func(e Event) {
			if strings.Contains(e.Note, "no refit") {
				note = e.Stage + ": " + e.Note
			}
		}
		m, report, err := Fit(t.Context(), s, data, opt)
		for limit := (*MemoryError)(nil); errors.As(err, &limit); { // the least limit of the first training
			opt.Memory = limit.Least + 1<<20
			m, report, err = Fit(t.Context(), s, data, opt)
		}
		if err != nil {
			t.Fatal(err)
		}
		if (note != "") != want || want && !(strings.HasPrefix(note, "plan: ") && strings.Contains(note, "MiB")) {
			t.Errorf("limit %d: got the note %q", opt.Memory, note)
		}
		planned := false
		opt.Progress = func(e Event) { planned = planned || e.Fit != nil }
		_, again, err := Refit(t.Context(), m, report, data, spec.RefitAll, opt)
		if err != nil || (again.Refit == nil) != want || planned == want {
			t.Errorf("limit %d: got the refit %v and the error %v; trained: %t", opt.Memory, again.Refit, err, planned)
		}
		if given := slices.ContainsFunc(again.Warnings, func(w string) bool { return strings.Contains(w, "more memory than the limit") }); given != want {
			t.Errorf("limit %d: got the warnings %q", opt.Memory, again.Warnings)
		}
		opt.Memory, opt.Progress = 400<<20, nil
	}
}

// truncate makes the pages in a folder unreadable, as a failing disk does. It reports whether
// there are any.
func truncate(t *testing.T, folder string) (found bool) {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc")
	}
	for _, fd := range open {
		path := "/proc/self/fd/" + fd.Name()
		if target, err := os.Readlink(path); err != nil || !strings.HasPrefix(target, folder+"/") {
			continue
		}
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		found = true
	}
	return found
}

func TestFailingDiskEndsFit(t *testing.T) {
	failingDisk(t, pagedSpec("mean-field"), pagedTable, fewMiB, false)
}

// Pages that the weights alone need are opened after the plan, and their failure is an error, too.
func TestFailingDiskEndsFitOfManyWeights(t *testing.T) {
	s := pagedSpec("mean-field")
	s.Terms = []string{"item,store,month:32"}
	table := func() tableio.Source {
		const rows = 90_000
		rng := rand.New(rand.NewPCG(1, 2))
		store, item, month, units := make([]int64, rows), make([]int64, rows), make([]int64, rows), make([]float64, rows)
		for i := range units {
			store[i], item[i], month[i] = int64(i%60), int64(i%60_000), int64(i/60_000)
			units[i] = rng.NormFloat64()
		}
		table, err := dataset.NewColumns(dataset.IntColumn("store", store), dataset.IntColumn("item", item), dataset.IntColumn("month", month), dataset.FloatColumn("units", units))
		if err != nil {
			t.Fatal(err)
		}
		return tableio.Columns(table)
	}
	least := func() int64 {
		data, err := Read(t.Context(), s, table(), Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		free, err := EstimateFit(t.Context(), s, data, Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		return free.Least
	}()
	runtime.GC() // what is in memory at the start counts
	failingDisk(t, s, table, least*9/10, true)
}

// failingDisk fits a table on a disk that fails. late says that there are no pages before the plan.
func failingDisk(t *testing.T, s spec.Spec, table func() tableio.Source, memory int64, late bool) {
	t.Helper()
	folder := t.TempDir()
	failed := false
	opt := Options{Threads: 2, Memory: memory, Scratch: folder}
	opt.Progress = func(e Event) {
		if e.Stage == "plan" && late == slices.ContainsFunc(openFiles(t), func(name string) bool { return strings.HasPrefix(name, folder+"/") }) {
			t.Errorf("pages before the plan: %t", late)
		}
		if e.Fit != nil && !failed {
			failed = truncate(t, folder)
		}
	}
	m, report, err := ReadAndFit(t.Context(), s, table(), opt)
	var disk *paged.Error
	if !errors.As(err, &disk) || m != nil || report != nil {
		t.Fatalf("got error %v", err)
	}
	if !failed || !strings.Contains(err.Error(), folder) || !strings.Contains(err.Error(), "MiB") {
		t.Errorf("pages found: %t; got error %q", failed, err)
	}
	if left, err := filepath.Glob(filepath.Join(folder, "*")); err != nil || len(left) > 0 {
		t.Errorf("left %v, error %v", left, err)
	}
}

// What cannot be kept is refused before training, with figures.
func TestImpossibleLimitIsRefused(t *testing.T) {
	for _, memory := range []int64{1 << 20, 60 << 20} {
		opt := Options{Threads: 2, Memory: memory, Scratch: t.TempDir()}
		opt.Progress = func(e Event) {
			if e.Stage == "fit" {
				t.Error("training began")
			}
		}
		_, _, err := ReadAndFit(t.Context(), pagedSpec("map"), pagedTable(), opt)
		var limit *MemoryError
		if !errors.As(err, &limit) || !strings.Contains(err.Error(), strconv.Itoa(int(memory>>20))+" MiB") {
			t.Errorf("got error %v", err)
		}
	}
	_, _, err := ReadAndFit(t.Context(), pagedSpec("map"), pagedTable(), Options{Threads: 2, Memory: fewMiB, Scratch: filepath.Join(t.TempDir(), "none")})
	var disk *paged.Error
	if !errors.As(err, &disk) {
		t.Errorf("a folder that does not exist: got error %v", err)
	}
}

func TestEstimateTellsPages(t *testing.T) {
	s, opt := pagedSpec("map"), Options{Threads: 2, Memory: fewMiB, Scratch: t.TempDir()}
	data, err := Read(t.Context(), s, pagedTable(), opt)
	if err != nil {
		t.Fatal(err)
	}
	e, err := EstimateFit(t.Context(), s, data, opt)
	if err != nil {
		t.Fatal(err)
	}
	if e.Disk < 4*pagedRows || e.Least > fewMiB || !(e.SweepSeconds > 0) {
		t.Errorf("got %+v", e)
	}
}
