package kft_test

import (
	"bytes"
	"math"
	"path/filepath"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
)

func TestThreadsDoNotChangeModelFile(t *testing.T) {
	t.Parallel()
	table := testtable.WriteSales(t, 7000)
	var want []byte
	for _, threads := range []int{1, 2, 8} {
		m, _ := fit(t, salesSpec(table), kft.Options{Threads: threads})
		got := modelBytes(t, m)
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d threads: got a file that differs from that of 1 thread, want equal bytes", threads)
		}
	}
}

// TestCPUPathsAgree checks that predictions of different CPU paths agree to 1e-4. The
// paths differ by rounding. A model keeps the path that was chosen when it was made.
func TestCPUPathsAgree(t *testing.T) {
	spec := salesSpec(testtable.WriteSales(t, 3000))
	spec.Fit.Ridge, spec.Fit.Lambda, spec.Fit.Sweeps = "uniform", kft.LambdaOf(3), 3
	m, _ := fit(t, spec, kft.Options{})
	cells := []kft.Cell{{"store": "s3", "item": "i4", "time": "2015-2"}, {"store": "s9", "item": "i14", "time": "2016-5"}}
	want := predictCells(t, m, cells...)
	file := filepath.Join(t.TempDir(), "m.kft")
	if err := m.Save(file); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KFT_CPU", "generic")
	generic, err := kft.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range predictCells(t, generic, cells...) {
		if math.Abs(got.Median-want[i].Median) > 1e-4*want[i].Median {
			t.Errorf("cell %d: got median %g on the generic path, want %g as on the fastest path", i, got.Median, want[i].Median)
		}
	}
	t.Setenv("KFT_CPU", "avx1024")
	if _, err := kft.Load(file); err == nil {
		t.Error("Load with an unknown CPU path: got no error, want one")
	}
}
