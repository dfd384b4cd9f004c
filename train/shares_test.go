package train

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train/collective"
)

// testRanks are ranks that are not interrupted.
type testRanks struct{ backend.Ranks }

func (testRanks) Interrupted() bool { return false }

func (testRanks) Traffic() (int64, time.Duration, time.Duration, time.Duration) { return 0, 0, 0, 0 }

// Ranks that keep their run of the training rows alone fit the model of one process.
func TestDividedRowsGiveSameBytes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sales.csv")
	var text strings.Builder
	text.WriteString("store,item,month,units\n")
	draw := rand.New(rand.NewPCG(3, 5))
	for item := range 1400 {
		for store := range 17 {
			for month := range 6 {
				if draw.IntN(8) > 0 {
					fmt.Fprintf(&text, "s%d,i%d,2021-%02d,%d\n", store, item, month+1, draw.IntN(3+item%7+store))
				}
			}
		}
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	base := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "units", Modes: []string{"store", "item", "month"}}, Split: "random:80/10/10", Transform: "log1p",
		Terms: []string{"store", "item", "item,store,month:3"}, Fit: spec.Fit{Sweeps: 3}}
	point, normal, power := base.Clone(), base.Clone(), base.Clone()
	normal.Uncertainty.Inference = "mean-field"
	power.Transform = "power:0.5" // its unit needs all targets
	for name, test := range map[string]struct {
		spec  spec.Spec
		many  int
		whole bool // all ranks have read the whole table
		sizes []int
	}{
		"point estimate": {point, 1 << 16, false, []int{2}},
		"posterior":      {normal, 1 << 16, false, []int{2, 3}},
		"whole table":    {point, 1 << 16, true, []int{2}},
		"all targets":    {power, 1 << 16, false, []int{2}},
		"few rows":       {point, 0, false, []int{2}},
	} {
		s := test.spec
		s.Fill()
		fit := func(ranks collective.Ranks) []byte {
			opt := Options{Threads: 1, Ranks: ranks, manyRows: test.many}
			data, err := readTogether(context.Background(), s, tableio.Source{}, opt, !test.whole)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return nil
			}
			if ranks != nil && (data.Shared() == nil) != test.whole {
				t.Errorf("%s: rank %d has a share of the table: %t", name, ranks.Rank(), data.Shared() != nil)
			}
			m, _, err := start(context.Background(), s, data, opt, !test.whole)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return nil
			}
			var file bytes.Buffer
			if _, err := m.WriteTo(&file); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return file.Bytes()
		}
		want := fit(nil)
		for _, size := range test.sizes {
			backendtest.OnRanks(size, func(r backend.Ranks) {
				if got := fit(testRanks{r}); !bytes.Equal(got, want) {
					t.Errorf("%s: rank %d of %d: another model than that of one process", name, r.Rank(), size)
				}
			})
		}
	}
}

// A target outside of the domain of the scale is the error of one process, though one rank has read it.
func TestDomainOfShares(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sales.csv")
	var text strings.Builder
	text.WriteString("store,item,units\n")
	for i := range 160_000 {
		units := i % 7
		if i == 140_000 {
			units = -2
		}
		fmt.Fprintf(&text, "shop number %d,item number %d,%d\n", i/16_000, i%16_000, units)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "units", Modes: []string{"store", "item"}}, Transform: "log1p", Terms: []string{"store", "item"}}
	s.Fill()
	_, _, want := ReadAndFit(context.Background(), s, tableio.Source{}, Options{Threads: 1})
	if want == nil {
		t.Fatal("no error")
	}
	backendtest.OnRanks(2, func(r backend.Ranks) {
		opt := Options{Threads: 1, Ranks: testRanks{r}}
		data, err := readTogether(context.Background(), s, tableio.Source{}, opt, true)
		if err != nil || data.Shared() == nil {
			t.Errorf("rank %d: got the error %v, or the whole table", r.Rank(), err)
			return
		}
		if _, _, err := start(context.Background(), s, data, opt, true); fmt.Sprint(err) != fmt.Sprint(want) {
			t.Errorf("rank %d: got the error %v, want %v", r.Rank(), err, want)
		}
	})
}
