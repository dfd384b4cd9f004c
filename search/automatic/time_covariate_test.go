package automatic_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// A table can be split by a time that is a covariate. Formulas, which know no covariates, then have no time.
func TestTimeAsCovariate(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("series,time,value\n")
	for s := range 3 {
		for i := range 40 {
			fmt.Fprintf(&b, "s%d,%.3f,%d\n", s, 1973.03+0.21*float64(i), 10*s+i*i%7)
		}
	}
	file := filepath.Join(t.TempDir(), "values.csv")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s := spec.Spec{Version: 1, Data: spec.Data{Files: []string{file}, Target: "value", Modes: []string{"series"}, Covariates: []string{"time"}, Duplicates: "keep"}, Split: "time:last=4", Terms: []string{"series"}}
	s.Fill()
	if _, _, err := search.Fit(t.Context(), s, tableio.Files(file), train.Options{}); err != nil {
		t.Fatal(err)
	}
}
