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
	point, whole, normal := base.Clone(), base.Clone(), base.Clone()
	normal.Uncertainty.Inference = "mean-field"
	whole.Uncertainty = spec.Uncertainty{Inference: "mean-field", Noise: "power"} // its noise needs all rows
	for name, s := range map[string]spec.Spec{"point estimate": point, "posterior": normal, "noise of all rows": whole} {
		s.Fill()
		fit := func(ranks Ranks) []byte {
			m, _, err := ReadAndFit(context.Background(), s, tableio.Source{}, Options{Threads: 1, Ranks: ranks, manyRows: 1 << 16})
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
		for _, size := range []int{2, 3} {
			backendtest.OnRanks(size, func(r backend.Ranks) {
				if got := fit(testRanks{r}); !bytes.Equal(got, want) {
					t.Errorf("%s: rank %d of %d: another model than that of one process", name, r.Rank(), size)
				}
			})
		}
	}
}
