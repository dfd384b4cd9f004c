package columnar

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// flatTable is a table in a FlatBuffer, the format of Arrow's metadata. The methods
// panic if a position is outside the buffer; recoverDamage makes an error of it.
type flatTable struct {
	b  []byte
	at int
}

// flatRoot returns the root of a buffer.
func flatRoot(b []byte) flatTable { return flatTable{b, int(binary.LittleEndian.Uint32(b))} }

// field returns the position of a field, or 0 if the table does not have it.
func (t flatTable) field(slot int) int {
	fields := t.at - int(int32(binary.LittleEndian.Uint32(t.b[t.at:])))
	if 4+2*slot >= int(binary.LittleEndian.Uint16(t.b[fields:])) {
		return 0
	}
	offset := int(binary.LittleEndian.Uint16(t.b[fields+4+2*slot:]))
	if offset == 0 {
		return 0
	}
	return t.at + offset
}

func (t flatTable) uint8(slot int) uint8 {
	if at := t.field(slot); at != 0 {
		return t.b[at]
	}
	return 0
}

func (t flatTable) int64(slot int) int64 {
	if at := t.field(slot); at != 0 {
		return flatInt64(t.b, at)
	}
	return 0
}

// table returns the table that a field refers to.
func (t flatTable) table(slot int) (flatTable, bool) {
	at := t.field(slot)
	if at == 0 {
		return flatTable{}, false
	}
	return t.follow(at), true
}

// follow returns the table that the reference at a position means. References point
// forward, so that following them ends.
func (t flatTable) follow(at int) flatTable {
	return flatTable{t.b, at + int(binary.LittleEndian.Uint32(t.b[at:]))}
}

// vector returns the position and the number of elements of a vector. The elements have
// width bytes each, and all of them are in the buffer.
func (t flatTable) vector(slot, width int) (at, n int) {
	from := t.field(slot)
	if from == 0 {
		return 0, 0
	}
	from += int(binary.LittleEndian.Uint32(t.b[from:]))
	n = int(binary.LittleEndian.Uint32(t.b[from:]))
	if n > (len(t.b)-from-4)/width {
		panic(fmt.Sprintf("a list of %d in metadata of %d bytes", n, len(t.b)))
	}
	return from + 4, n
}

func flatInt64(b []byte, at int) int64 { return int64(binary.LittleEndian.Uint64(b[at:])) }

// Fields of Arrow's tables, by their place in the definition, and types of messages.
const (
	messageKind   = 1
	messageHeader = 2
	messageBody   = 3

	kindSchema     = 1
	kindDictionary = 2
	kindRecord     = 3

	dictionaryID   = 0
	dictionaryData = 1

	batchRows        = 0
	batchNodes       = 1
	batchBuffers     = 2
	batchCompression = 3
	batchVariadic    = 4

	schemaFields   = 1
	schemaMetadata = 2
	schemaFeatures = 3

	fieldKind       = 2
	fieldType       = 3
	fieldDictionary = 4
	fieldChildren   = 5
	fieldMetadata   = 6

	footerSchema       = 1
	footerDictionaries = 2
	footerRecords      = 3
)

// arrowLayout is what a message must have for some columns: as many nodes (length and
// number of nulls of an array), buffers, and arrays with a number of buffers of their
// own. The library does not check the numbers.
type arrowLayout struct{ nodes, buffers, views int }

func (l *arrowLayout) add(more arrowLayout) {
	l.nodes += more.nodes
	l.buffers += more.buffers
	l.views += more.views
}

// arrowSchema is what the messages of a schema must have.
type arrowSchema struct {
	record       arrowLayout
	dictionaries map[int64]arrowLayout // by id
	left         int                   // fields that may follow
}

// readSchema checks the lists of a schema, for which the library takes memory, and the
// nesting of its fields.
func readSchema(schema flatTable) (*arrowSchema, error) {
	schema.vector(schemaMetadata, 4)
	schema.vector(schemaFeatures, 8)
	s := &arrowSchema{dictionaries: map[int64]arrowLayout{}}
	s.left = len(schema.b) / 8 // a field has more bytes; so many fields cannot share them
	var err error
	s.record, err = s.fields(schema, schemaFields, 0)
	return s, err
}

// fields returns the layout of the fields in a list.
func (s *arrowSchema) fields(parent flatTable, slot, depth int) (all arrowLayout, err error) {
	const deepest = 64
	if depth > deepest {
		return all, errors.New("its columns are nested too deeply")
	}
	at, n := parent.vector(slot, 4)
	for i := range n {
		if s.left--; s.left < 0 {
			return all, errors.New("its schema refers to the same fields again and again")
		}
		field := parent.follow(at + 4*i)
		field.vector(fieldMetadata, 4)
		below, err := s.fields(field, fieldChildren, depth+1)
		if err != nil {
			return all, err
		}
		own := field.layout()
		own.add(below)
		if dictionary, ok := field.table(fieldDictionary); ok {
			s.dictionaries[dictionary.int64(0)] = own
			own = arrowLayout{nodes: 1, buffers: 2} // the indexes
		}
		all.add(own)
	}
	return all, nil
}

// layout returns the layout of a field without the fields below it.
func (t flatTable) layout() arrowLayout {
	const (
		null, binary, text, record, union             = 1, 4, 5, 13, 14
		fixedList, largeBinary, largeText             = 16, 19, 20
		runs, view, textView, listView, largeListView = 22, 23, 24, 25, 26
	)
	switch t.uint8(fieldKind) {
	case null, runs:
		return arrowLayout{nodes: 1}
	case record, fixedList:
		return arrowLayout{nodes: 1, buffers: 1}
	case binary, text, largeBinary, largeText, listView, largeListView:
		return arrowLayout{nodes: 1, buffers: 3}
	case union:
		of, ok := t.table(fieldType)
		if ok {
			of.vector(1, 4)
		}
		if ok && of.uint8(0) == 1 { // dense
			return arrowLayout{nodes: 1, buffers: 2}
		}
		return arrowLayout{nodes: 1, buffers: 1}
	case view, textView:
		return arrowLayout{nodes: 1, buffers: 2, views: 1}
	}
	return arrowLayout{nodes: 1, buffers: 2} // which values are null, and the values or where lists start
}
