package testtable

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/synthetic"
)

// WriteSynthetic writes a synthetic table of 20 stores, 30 items and 12 months, with 300 pairs, to a
// temporary folder of the test, and returns its path. Its columns are those of package synthetic.
func WriteSynthetic(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sales.csv")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := synthetic.New(synthetic.Options{Stores: 20, Items: 30, Months: 12, Pairs: 300, Seed: 1}).WriteCSV(file); err != nil {
		t.Fatal(err)
	}
	return path
}
