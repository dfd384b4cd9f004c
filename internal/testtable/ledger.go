package testtable

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/synthetic"
)

// WriteLedger writes a table of the ledger as CSV into a temporary folder and returns the file.
func WriteLedger(t testing.TB, name string) (file string, table synthetic.LedgerTable) {
	t.Helper()
	tables := synthetic.LedgerTables()
	i := slices.IndexFunc(tables, func(l synthetic.LedgerTable) bool { return l.Name == name })
	if i < 0 {
		t.Fatalf("no table %s", name)
	}
	var text strings.Builder
	line := func(fields []string, y string) { text.WriteString(strings.Join(fields, ",") + "," + y + "\n") }
	line(tables[i].Modes, tables[i].Target)
	tables[i].Rows(1, line)
	file = filepath.Join(t.TempDir(), name+".csv")
	if err := os.WriteFile(file, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return file, tables[i]
}
