package tableio

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// TestExposure checks how exposures of rows and of repeated cells are read.
func TestExposure(t *testing.T) {
	t.Parallel()
	const text = "id,days,y\na,2,1\nb,3,5\na,4,7\nc,8,\nb,1,2\n"
	for rule, want := range map[string][]float32{"sum": {6, 4}, "mean": {3, 2}, "last": {4, 1}} {
		schema := dataset.Schema{Target: "y", Exposure: "days", Modes: []dataset.Mode{{Name: "id", Columns: []string{"id"}}}, Duplicates: rule}
		table, err := Read(context.Background(), Reader("t", strings.NewReader(text)), schema, Format{}, 1)
		if err != nil || !slices.Equal(table.Exposure, want) {
			t.Errorf("%s: got exposures %v, error %v, want %v", rule, table.Exposure, err, want)
		}
	}
}

// TestOptionalColumns checks weights and exposures of a table to predict.
func TestOptionalColumns(t *testing.T) {
	t.Parallel()
	schema := dataset.Schema{Weight: "w", Exposure: "days", Optional: true, Modes: []dataset.Mode{{Name: "id", Columns: []string{"id"}}}}
	for text, want := range map[string][2][]float32{
		"id\na\nb\n":                            {nil, nil},
		"id,w\na,2\nb,\nc,0\n":                  {{2, 1, 1}, nil},
		"days,id,w\n3,a,0.5\nNA,b,1\n0.5,c,2\n": {{0.5, 1, 2}, {3, 1, 0.5}},
	} {
		err := VisitBatches(context.Background(), Reader("t", strings.NewReader(text)), schema, []*dataset.Dict{dataset.NewDict(nil)}, Format{}, 1, func(b *Batch) error {
			if !slices.Equal(b.W, want[0]) || !slices.Equal(b.Exposure, want[1]) {
				t.Errorf("%q: got weights %v and exposures %v, want %v and %v", text, b.W, b.Exposure, want[0], want[1])
			}
			return nil
		})
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
