package columnar

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/magic"
)

// arrowTable reads an Arrow IPC file or stream, one record batch at a time. Numbers,
// texts and dictionaries without nulls are not copied.
type arrowTable struct {
	name    string
	schema  *arrow.Schema
	read    func() (arrow.RecordBatch, error)
	closers []func()
	wanted  []int

	pending []Batch
	dicts   map[int]*arrowDictionary // by column
}

// arrowDictionary is the dictionary of a column and its values.
type arrowDictionary struct {
	of     arrow.Array
	values *dictionary
}

func openArrowFile(name string, file *os.File, size int64, closing func()) (table Table, err error) {
	defer recoverDamage(name, &err)
	next, err := arrowFile(file, size)
	if err != nil {
		return nil, arrowProblem(name, err)
	}
	return openArrow(name, next, closing)
}

// OpenArrowStream opens an Arrow stream, or an Arrow file of which it needs only the
// front: after a mark of eight bytes a file is a stream. The table calls closing when
// it is closed.
func OpenArrowStream(name string, in io.Reader, closing func()) (table Table, err error) {
	defer recoverDamage(name, &err)
	buffered := bufio.NewReaderSize(in, 64<<10)
	if head, err := buffered.Peek(magic.Size); err == nil && magic.Columnar(head) == magic.Arrow {
		buffered.Discard(magic.Size)
	}
	return openArrow(name, arrowStream(buffered), closing)
}

func openArrow(name string, next func() (meta, body []byte, err error), closing func()) (Table, error) {
	r, err := ipc.NewReaderFromMessageReader(&arrowMessages{next: next})
	if err != nil {
		return nil, arrowProblem(name, err)
	}
	read := func() (arrow.RecordBatch, error) {
		if r.Next() {
			return r.RecordBatch(), nil
		}
		if err := r.Err(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	return &arrowTable{name: name, schema: r.Schema(), read: read, closers: []func(){r.Release, closing}}, nil
}

func (t *arrowTable) Names() []string {
	names := make([]string, t.schema.NumFields())
	for i, f := range t.schema.Fields() {
		names[i] = f.Name
	}
	return names
}

func (t *arrowTable) Readable(column int) bool {
	of := t.schema.Field(column).Type
	if d, ok := of.(*arrow.DictionaryType); ok {
		of = d.ValueType
	}
	return !arrow.IsNested(of.ID()) && of.ID() != arrow.EXTENSION && of.ID() != arrow.RUN_END_ENCODED
}

func (t *arrowTable) Kind(column int) Kind {
	of := t.schema.Field(column).Type
	if d, ok := of.(*arrow.DictionaryType); ok {
		of = d.ValueType
	}
	switch of := of.(type) {
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type, *arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type:
		return Kind{Type: Integer}
	case *arrow.Float16Type, *arrow.Float32Type:
		return Kind{Type: Float32}
	case *arrow.Float64Type:
		return Kind{Type: Float64}
	case *arrow.BooleanType:
		return Kind{Type: Bool}
	case *arrow.Date32Type:
		return Kind{Type: Date}
	case *arrow.Date64Type:
		return Kind{Type: Moment, per: 1e3}
	case *arrow.TimestampType:
		return Kind{Type: Moment, per: unitsPerSecond(of.Unit)}
	}
	return Kind{Type: Text}
}

func (t *arrowTable) Start(columns []int) { t.wanted = columns }

func (t *arrowTable) Close() {
	for _, c := range t.closers {
		c()
	}
}

func (t *arrowTable) Next() (b *Batch, err error) {
	defer recoverDamage(t.name, &err)
	for len(t.pending) == 0 {
		record, err := t.read()
		if err == io.EOF {
			return nil, io.EOF
		}
		if err != nil {
			return nil, arrowProblem(t.name, err)
		}
		if err := t.split(record); err != nil {
			return nil, err
		}
	}
	b = &t.pending[0]
	t.pending = t.pending[1:]
	return b, nil
}

// split splits a record batch into batches of at most BatchRows rows.
func (t *arrowTable) split(record arrow.RecordBatch) error {
	n := int(record.NumRows())
	whole := make([]Segment, record.NumCols())
	for _, c := range t.wanted {
		if err := array.Validate(record.Column(c)); err != nil && record.Column(c).DataType().ID() != arrow.NULL {
			return arrowProblem(t.name, fmt.Errorf("column %q: %w", t.schema.Field(c).Name, err))
		}
		s, err := t.segment(c, record.Column(c))
		if errors.Is(err, errOffsets) {
			return arrowProblem(t.name, fmt.Errorf("column %q: %w", t.schema.Field(c).Name, err))
		}
		if err != nil {
			return &dataset.InputError{File: t.name, Column: t.schema.Field(c).Name, Problem: err.Error(), Remedy: "flatten it, cast it, or drop it"}
		}
		if s.n != n {
			return arrowProblem(t.name, fmt.Errorf("a column of %d rows in a batch of %d", s.n, n))
		}
		whole[c] = s
	}
	t.pending = nil
	for from := 0; from < n; from += BatchRows {
		to := min(n, from+BatchRows)
		b := Batch{n: to - from, columns: make([][]Segment, len(whole))}
		for _, c := range t.wanted {
			b.columns[c] = []Segment{whole[c].slice(from, to)}
		}
		t.pending = append(t.pending, b)
	}
	return nil
}

// segment returns the values of an array.
func (t *arrowTable) segment(column int, a arrow.Array) (Segment, error) {
	if d, ok := a.(*array.Dictionary); ok {
		return t.indexed(column, d)
	}
	s, err := arrowValues(a)
	if err != nil {
		return s, err
	}
	if a.NullN() > 0 && s.valid == nil {
		s.valid = make([]bool, s.n)
		for i := range s.valid {
			s.valid[i] = a.IsValid(i)
		}
	}
	return s, nil
}

func (t *arrowTable) indexed(column int, a *array.Dictionary) (Segment, error) {
	if t.dicts == nil {
		t.dicts = map[int]*arrowDictionary{}
	}
	known := t.dicts[column]
	if known == nil || known.of != a.Dictionary() {
		values, err := t.segment(-1, a.Dictionary())
		if err != nil {
			return Segment{}, err
		}
		known = &arrowDictionary{a.Dictionary(), &dictionary{values: values}}
		t.dicts[column] = known
	}
	s := Segment{n: a.Len(), index: make([]int32, a.Len()), dict: known.values}
	for i := range s.index {
		s.index[i] = -1
		if a.IsValid(i) {
			at := a.GetValueIndex(i)
			if at < 0 || at >= known.values.values.n {
				return Segment{}, errOffsets
			}
			s.index[i] = int32(at)
		}
	}
	return s, nil
}

// errOffsets is the error of a value that is not where the file states.
var errOffsets = errors.New("a value is outside its buffer or dictionary")

func arrowProblem(name string, err error) error {
	return &dataset.InputError{File: name, Problem: fmt.Sprintf("the Arrow file is truncated or damaged (%v)", err), Remedy: "copy or write it again", Err: err}
}
