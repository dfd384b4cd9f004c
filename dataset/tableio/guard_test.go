package tableio

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// TestPanicOfWorker checks that a panic over the values of a typed file becomes an
// error, that it ends the reading, and that a panic over text, which is always a fault of
// the program, reaches the caller.
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
	path := datasettest.WriteFile(t, "t.csv", "a,b\n1,2\n")
	p := pipeline{source: Files(path), threads: 2, allColumns: true}
	defer func() {
		if bug, ok := recover().(*parallel.Bug); !ok || bug.Cause != "a fault" {
			t.Errorf("the caller got the panic %v, want that of the worker", bug)
		}
	}()
	_ = p.run(context.Background(), func(*openTable) error { return nil }, func(int, *chunk) (any, error) { panic("a fault") }, func(any) error { return nil })
}
