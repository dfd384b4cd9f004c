package columnar

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/kernel-fried-tensor/kft/dataset/internal/magic"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// footerEnd is the size of the last bytes of a file: the length of the footer and the
// mark of the format.
const footerEnd = 8

var errTruncated = errors.New("it ends too early")

// readFooter reads the metadata of a Parquet file of the given size. It checks all
// sizes before it allocates memory for them.
func readFooter(file io.ReaderAt, size int64) (*format.FileMetaData, error) {
	var end [footerEnd]byte
	if size < footerEnd+4 {
		return nil, errTruncated
	}
	if _, err := file.ReadAt(end[:], size-footerEnd); err != nil && err != io.EOF {
		return nil, err
	}
	if string(end[4:]) == "PARE" {
		return nil, unsupported("it is encrypted")
	}
	if magic.Columnar(end[4:]) != magic.Parquet {
		return nil, errTruncated
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if length > size-footerEnd-4 {
		return nil, fmt.Errorf("a footer of %d bytes in a file of %d", length, size)
	}
	footer := make([]byte, length)
	if _, err := file.ReadAt(footer, size-footerEnd-length); err != nil && err != io.EOF {
		return nil, err
	}
	meta := new(format.FileMetaData)
	if _, err := decodeThrift(footer, meta); err != nil {
		return nil, fmt.Errorf("its footer: %w", err)
	}
	return meta, checkMetadata(meta, size)
}

// checkMetadata checks what the readers of columns rely on.
func checkMetadata(meta *format.FileMetaData, size int64) error {
	rows, leaves := int64(0), 0
	for i := range meta.Schema {
		if n := meta.Schema[i].NumChildren; !n.Valid || n.V == 0 {
			leaves++
		}
	}
	for g := range meta.RowGroups {
		group := &meta.RowGroups[g]
		if group.NumRows < 0 || group.NumRows > meta.NumRows-rows {
			return fmt.Errorf("row group %d has %d rows, the table %d", g, group.NumRows, meta.NumRows)
		}
		rows += group.NumRows
		if len(group.Columns) != leaves {
			return fmt.Errorf("row group %d has %d columns, the schema %d", g, len(group.Columns), leaves)
		}
	}
	if rows != meta.NumRows {
		return fmt.Errorf("its row groups have %d rows, the table %d", rows, meta.NumRows)
	}
	return nil
}

// schemaColumns returns the columns of the table, which are the children of the first
// element of the schema.
func schemaColumns(schema []format.SchemaElement) ([]parquetColumn, error) {
	if len(schema) == 0 || !schema[0].NumChildren.Valid {
		return nil, errors.New("it has no schema")
	}
	var columns []parquetColumn
	at, leaf := 1, 0
	for range schema[0].NumChildren.V {
		if at >= len(schema) {
			return nil, errors.New("its schema ends too early")
		}
		e := &schema[at]
		c := parquetColumn{name: e.Name, leaf: -1}
		if e.NumChildren.V == 0 && e.Type.Valid && (!e.RepetitionType.Valid || e.RepetitionType.V != format.Repeated) {
			c.leaf = leaf
			c.describe(e)
		}
		columns = append(columns, c)
		// Skip the element and everything below it.
		for open := int64(1); open > 0; open-- {
			if at >= len(schema) || schema[at].NumChildren.V < 0 {
				return nil, errors.New("its schema is not a tree")
			}
			if schema[at].NumChildren.V == 0 {
				leaf++
			}
			open += int64(schema[at].NumChildren.V)
			at++
		}
	}
	if at != len(schema) {
		return nil, errors.New("its schema is not a tree")
	}
	return columns, nil
}

// decodeThrift decodes a structure at the start of b and returns its length. It returns
// errTruncated if b ends within the structure.
func decodeThrift(b []byte, v any) (int, error) {
	w := thriftWalk{rest: b}
	if err := w.structure(0); err != nil {
		return 0, err
	}
	n := len(b) - len(w.rest)
	var protocol thrift.CompactProtocol
	return n, thrift.NewDecoder(protocol.NewReaderFromBytes(b[:n:n])).Decode(v)
}

// thriftWalk walks over values in the compact protocol of Thrift, so that no size is
// trusted which the bytes do not have.
type thriftWalk struct{ rest []byte }

// Types of the compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// deepestThrift bounds the nesting. The metadata of Parquet have a depth of 7.
const deepestThrift = 32

func (w *thriftWalk) structure(depth int) error {
	if depth > deepestThrift {
		return errors.New("its metadata are nested too deeply")
	}
	for {
		head, err := w.skip(1)
		if err != nil {
			return err
		}
		if head[0] == 0 {
			return nil
		}
		if head[0]>>4 == 0 { // the number of the field follows
			if _, err := w.varint(); err != nil {
				return err
			}
		}
		if kind := head[0] & 15; kind != thriftTrue && kind != thriftFalse {
			if err := w.value(kind, depth); err != nil {
				return err
			}
		}
	}
}

func (w *thriftWalk) value(kind byte, depth int) error {
	switch kind {
	case thriftTrue, thriftFalse, thriftByte: // an element of a list
		_, err := w.skip(1)
		return err
	case 4, 5, 6: // integers of 16, 32 and 64 bits
		_, err := w.varint()
		return err
	case thriftDouble:
		_, err := w.skip(8)
		return err
	case thriftBinary:
		n, err := w.varint()
		if err == nil {
			_, err = w.skip(n)
		}
		return err
	case thriftList, thriftSet:
		head, err := w.skip(1)
		if err != nil {
			return err
		}
		n := uint64(head[0] >> 4)
		if n == 15 {
			if n, err = w.varint(); err != nil {
				return err
			}
		}
		return w.elements(n, depth, head[0]&15)
	case thriftMap:
		n, err := w.varint()
		if err != nil || n == 0 {
			return err
		}
		head, err := w.skip(1)
		if err != nil {
			return err
		}
		return w.elements(n, depth, head[0]>>4, head[0]&15)
	case thriftStruct:
		return w.structure(depth + 1)
	}
	return fmt.Errorf("its metadata have a value of type %d", kind)
}

func (w *thriftWalk) elements(n uint64, depth int, kinds ...byte) error {
	if n > uint64(len(w.rest)) {
		return errTruncated // an element has at least one byte
	}
	if depth > deepestThrift {
		return errors.New("its metadata are nested too deeply")
	}
	for range n {
		for _, kind := range kinds {
			if err := w.value(kind, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *thriftWalk) skip(n uint64) ([]byte, error) {
	if n > uint64(len(w.rest)) {
		return nil, errTruncated
	}
	head := w.rest[:n]
	w.rest = w.rest[n:]
	return head, nil
}

func (w *thriftWalk) varint() (uint64, error) {
	v, n := binary.Uvarint(w.rest)
	if n == 0 {
		return 0, errTruncated
	}
	if n < 0 {
		return 0, errors.New("its metadata have a number of more than 64 bits")
	}
	w.rest = w.rest[n:]
	return v, nil
}
