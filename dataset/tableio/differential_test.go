package tableio

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// writtenTables writes tables with Python's pyarrow, polars and DuckDB in all layouts
// and returns the folder, or skips the test if pyarrow is absent.
func writtenTables(t *testing.T) string {
	t.Helper()
	python := os.Getenv("KFT_PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import pyarrow").Run(); err != nil {
		t.Skipf("%s with pyarrow is not available (pip install pyarrow polars duckdb): %v", python, err)
	}
	dir := t.TempDir()
	command := exec.Command(python, filepath.Join("testdata", "write_tables.py"), dir)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("write_tables.py: %v\n%s", err, out)
	}
	if len(out) > 0 {
		t.Logf("write_tables.py: %s", out)
	}
	return dir
}

type writtenColumn struct {
	Name   string
	Number bool
	Values []*string // nil for null
}

// TestOtherWriters reads what other programs wrote, over compressions, encodings, types,
// page versions, nulls and page sizes, and compares the values with those that pyarrow
// reads.
func TestOtherWriters(t *testing.T) {
	t.Parallel()
	if n := compareFolder(t, writtenTables(t)); n < 190 {
		t.Errorf("only %d files were compared", n)
	}
}

// TestStoredTables is TestOtherWriters with a few small tables that need no Python.
func TestStoredTables(t *testing.T) {
	t.Parallel()
	if n := compareFolder(t, storedTables); n < 14 {
		t.Errorf("only %d files were compared", n)
	}
}

// storedTables is the folder of what "write_tables.py FOLDER few" wrote.
const storedTables = "testdata/tables"

// compareFolder compares all tables of a folder with their values and returns their
// number.
func compareFolder(t *testing.T, dir string) int {
	t.Helper()
	load := func(name string, v any) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, v); err != nil {
			t.Fatal(err)
		}
	}
	var index map[string]string
	load("index.json", &index)
	tables := map[string][]writtenColumn{}
	for name, values := range index {
		if tables[values] == nil {
			var columns []writtenColumn
			load(values, &columns)
			tables[values] = columns
		}
		compareWritten(t, filepath.Join(dir, name), tables[values])
	}
	return len(index)
}

func compareWritten(t *testing.T, path string, want []writtenColumn) {
	t.Helper()
	name := filepath.Base(path)
	sample, err := ReadSample(Files(path), Format{}, 1<<30)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	for _, column := range want {
		c := slices.Index(sample.Names, column.Name)
		if c < 0 {
			t.Errorf("%s: there is no column %q", name, column.Name)
			continue
		}
		if len(sample.Rows) != len(column.Values) {
			t.Errorf("%s: got %d rows, want %d", name, len(sample.Rows), len(column.Values))
			return
		}
		for i, row := range sample.Rows {
			if !sameValue(row[c], column.Values[i], column.Number) {
				value := "null"
				if column.Values[i] != nil {
					value = strconv.Quote(*column.Values[i])
				}
				t.Errorf("%s, column %s, row %d: got %q, want %s", name, column.Name, i, row[c], value)
				break
			}
		}
	}
}

func sameValue(got string, want *string, number bool) bool {
	switch {
	case want == nil:
		return got == ""
	case !number:
		return got == strings.TrimSpace(*want)
	}
	g, err := strconv.ParseFloat(got, 64)
	w, wantErr := strconv.ParseFloat(*want, 64)
	return err == nil && wantErr == nil && (g == w || float32(g) == float32(w) && strconv.FormatFloat(w, 'g', -1, 32) == got)
}
