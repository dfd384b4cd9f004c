package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

var tiny = sizes{
	stores: 60, items: 80, months: 6, cells: 3000,
	square: 64, tall: 256, outer: 128, batched: 512,
	ranks: []int{2, 32}, rowRanks: []int{2}, numbers: 64,
	scaling: []int{300, 900, 3000}, scalingRank: 4, predictionRank: 3,
	repetitions: 1,
}

func TestRunMeasuresEverything(t *testing.T) {
	var stages []string
	r, err := measure(t.Context(), Options{Quick: true, Threads: 2, Progress: func(s string) { stages = append(stages, s) }}, tiny)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"table", "dense", "functions", "pass", "scaling", "read", "predict"}; !reflect.DeepEqual(stages, want) {
		t.Errorf("got stages %v, want %v", stages, want)
	}
	seen, targets := map[string]bool{}, 0
	for _, m := range r.Measures {
		if seen[m.Name] {
			t.Errorf("%q is measured twice", m.Name)
		}
		seen[m.Name] = true
		if !(m.Value >= 0) || math.IsInf(m.Value, 0) || m.Unit == "" {
			t.Errorf("%s: got value %v %s", m.Name, m.Value, m.Unit)
		}
		if (m.RatioOf == "") != (m.Ratio == 0) || !(m.Ratio >= 0) || math.IsInf(m.Ratio, 0) {
			t.Errorf("%s: got ratio %v of %q", m.Name, m.Ratio, m.RatioOf)
		}
		if (m.Target == nil) != (m.OK == nil) {
			t.Errorf("%s: got target %v, ok %v", m.Name, m.Target, m.OK)
		}
		if m.Target != nil {
			targets++
		}
	}
	for _, name := range []string{
		"FMA peak, 1 thread", "FMA peak, 2 threads", "GEMM 64x64x64, 1 thread", "GEMM 64x64x64, 2 threads", "GEMM 256x64x64, 2 threads",
		"GEMM 128x128x64, 2 threads", "GEMM 64x64x64 compared with gonum", "batched GEMM r=16, 1 thread", "batched GEMM r=64, 1 thread",
		"exp on a slice, 1 thread", "exp, largest error", "cos on a slice, 1 thread", "cos, largest error",
		"pass r=2, 1 thread", "pass r=32, 2 threads", "pass r=32, 2 threads: cells", "pass r=32, 2 threads: real flops", "pass r=32, 2 threads: bytes",
		"product of the inner core r=32, 2 threads", "rows of the first core r=2, 2 threads", "rows of the last core r=2, 2 threads",
		"CSV to codes, 1 thread", "CSV to codes, 2 threads", "predict: cells",
	} {
		if !seen[name] {
			t.Errorf("%q is not measured; got %v", name, seen)
		}
	}
	// 4 GEMMs, 3 batched GEMMs, 2 speeds and 2 errors of functions, the pass at
	// rank 32, two scaling steps, reading, and predicting.
	if targets != 16 {
		t.Errorf("got %d targets, want 16", targets)
	}

	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Result
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(*r, back) {
		t.Errorf("JSON changes the result: got\n%+v\nwant\n%+v", back, *r)
	}

	var out bytes.Buffer
	r.WriteText(&out)
	for _, m := range r.Measures {
		if !strings.Contains(out.String(), "\n  "+m.Name+"  ") {
			t.Errorf("the text does not contain %q:\n%s", m.Name, &out)
		}
	}
}

// The smaller tables have the shape of the largest one: as many cells per store
// and item, and as many items per store.
func TestScalingTablesHaveTheSameShape(t *testing.T) {
	whole := makeSales(600, 200, 12, 100_000)
	shape := func(s *sales) (perStore, perPair float64) {
		stores, pairs := map[int32]bool{}, map[[2]int32]bool{}
		for k, store := range s.codes[0] {
			stores[store] = true
			pairs[[2]int32{store, s.codes[1][k]}] = true
		}
		return float64(len(pairs)) / float64(len(stores)), float64(len(s.y)) / float64(len(pairs))
	}
	wantStore, wantPair := shape(whole)
	for _, n := range []int{60, 200} {
		some := whole.ofStores(n)
		perStore, perPair := shape(some)
		if math.Abs(perStore/wantStore-1) > 0.15 || math.Abs(perPair/wantPair-1) > 0.05 {
			t.Errorf("%d stores: got %.1f items per store and %.2f cells per item and store, want %.1f and %.2f", n, perStore, perPair, wantStore, wantPair)
		}
		if some.sizes != whole.sizes {
			t.Errorf("got mode sizes %v, want %v", some.sizes, whole.sizes)
		}
	}
}

func TestRunStopsWhenCancelled(t *testing.T) {
	for _, last := range []string{"table", "dense", "pass", "read"} {
		ctx, cancel := context.WithCancel(t.Context())
		after := 0
		_, err := measure(ctx, Options{Progress: func(stage string) {
			if ctx.Err() != nil {
				after++
			}
			if stage == last {
				cancel()
			}
		}}, tiny)
		cancel()
		if !errors.Is(err, context.Canceled) || after > 0 {
			t.Errorf("cancelled in stage %s: got error %v and %d more stages", last, err, after)
		}
	}
}

func TestRunUsesTableFromFolder(t *testing.T) {
	folder := t.TempDir()
	s := makeSales(30, 40, 4, 800)
	s.sort()
	s.write()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(s.text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "sales_2015_2016.csv.gz")
	if err := os.WriteFile(file, packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &run{ctx: t.Context(), opt: Options{Data: folder}, sizes: tiny, result: &Result{}}
	if err := r.loadTable(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(r.sales.text, s.text) || !reflect.DeepEqual(r.sales.y, s.y) || r.result.Table != "sales_2015_2016.csv.gz" {
		t.Errorf("got table %q with %d rows, want the one of the folder with %d", r.result.Table, len(r.sales.y), len(s.y))
	}

	r.opt.Data = t.TempDir()
	if err := r.loadTable(); err != nil || !strings.HasPrefix(r.result.Table, "synthetic") {
		t.Errorf("empty folder: got table %q, error %v", r.result.Table, err)
	}

	if err := os.WriteFile(file, packed.Bytes()[:packed.Len()/2], 0o600); err != nil {
		t.Fatal(err)
	}
	r.opt.Data = folder
	if err := r.loadTable(); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("truncated table: got error %v, want one that names the file", err)
	}
}
