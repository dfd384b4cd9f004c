package tableio

import (
	"context"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// ReadFrame reads a source as text. Delimiter, header, quotes and errors are as in
// Read.
func ReadFrame(ctx context.Context, source Source, format Format) (*dataset.Frame, error) {
	p := pipeline{source: source, format: format, allColumns: true}
	return p.readFrame(ctx)
}

// frameRows are the rows of a chunk.
type frameRows struct {
	columns [][]string
	lines   []int32
}

func (p *pipeline) readFrame(ctx context.Context) (*dataset.Frame, error) {
	f := &dataset.Frame{File: p.source.String()}
	opened := func(t *openTable) error {
		if f.Names != nil && !slices.Equal(f.Names, t.Names) {
			return &dataset.InputError{File: t.name, Problem: "the columns differ from those of the inputs before", Remedy: "give inputs with the same columns"}
		}
		f.Names = slices.Clone(t.Names)
		if f.Columns == nil {
			f.Columns = make([][]string, len(t.Names))
		}
		if t.typed != nil {
			f.Unit = "row"
		}
		return nil
	}
	text, typed := make([]textRows, p.workers()), make([]typedRows, p.workers())
	err := p.run(ctx, opened, func(worker int, c *chunk) (any, error) {
		r, at, err := c.start(&text[worker], &typed[worker])
		if err != nil {
			return nil, err
		}
		part := &frameRows{columns: r.Texts(), lines: make([]int32, r.Len())}
		for i := range part.lines {
			part.lines[i] = int32(at.line + r.Line(i))
		}
		return part, nil
	}, func(result any) error {
		part := result.(*frameRows)
		for c, column := range part.columns {
			f.Columns[c] = append(f.Columns[c], column...)
		}
		f.Lines = append(f.Lines, part.lines...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if f.Len() == 0 {
		return nil, p.source.noRows()
	}
	return f, nil
}
