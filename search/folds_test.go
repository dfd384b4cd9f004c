package search

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// Candidates are compared on as many folds as give 2,000 validation rows together: a table
// of a few thousand rows would otherwise take longer than one of ten times the size.
func TestFoldsByRows(t *testing.T) {
	for _, c := range []struct{ rows, divisions int }{{600, 13}, {900, 12}, {1200, 5}, {2200, 5}, {3000, 4}, {4400, 3}, {6000, 1}} {
		var b strings.Builder
		b.WriteString("a,b,y\n")
		for i := range c.rows {
			fmt.Fprintf(&b, "a%d,b%d,%d\n", i%29, i/29, i%7)
		}
		file := filepath.Join(t.TempDir(), "t.csv")
		writeFile(t, file, b.String())
		s := spec.Spec{Version: 1, Data: spec.Data{Files: []string{file}, Target: "y", Modes: []string{"a", "b"}}}
		s.Fill()
		data, err := train.Read(t.Context(), s, tableio.Files(file), train.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := foldsOf(s, data); err != nil || len(got) != c.divisions {
			t.Errorf("%d rows: %d divisions, error %v; want %d", c.rows, len(got), err, c.divisions)
		}
	}
}
