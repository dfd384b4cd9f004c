package tableio

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
)

// TestPanicOfWorker checks that a panic over the values of a typed file becomes an
// error, that it ends the reading, and that a panic over text, which is always a fault of
// the program, is not hidden.
func TestPanicOfWorker(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"arrow", "parquet"} {
		path := datasettest.WriteFile(t, "t."+format, string(writtenTable(t, format)))
		for _, before := range []bool{true, false} {
			p := pipeline{source: Files(path), threads: 2, allColumns: true}
			var typed [2]typedRows
			err := p.run(context.Background(), func(*openTable) error { return nil }, func(worker int, c *chunk) (any, error) {
				if !before {
					if _, _, err := c.start(nil, &typed[worker]); err != nil {
						return nil, err
					}
				}
				panic("index out of range")
			}, func(any) error { return nil })
			var input *dataset.InputError
			if !errors.As(err, &input) || !strings.Contains(input.Problem, "damaged") {
				t.Errorf("%s: got error %v, want one about a damaged file", format, err)
			}
		}
	}
	c := &chunk{}
	defer func() {
		if recover() == nil {
			t.Error("the panic of a worker on text is hidden")
		}
	}()
	_, _ = c.guarded(func() (any, error) { panic("a fault") })
}
