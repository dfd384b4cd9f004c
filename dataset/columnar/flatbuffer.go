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

	dictionaryData = 1

	batchRows        = 0
	batchNodes       = 1
	batchBuffers     = 2
	batchCompression = 3
	batchVariadic    = 4

	schemaFields   = 1
	schemaMetadata = 2
	schemaFeatures = 3

	fieldKind     = 2
	fieldType     = 3
	fieldChildren = 5
	fieldMetadata = 6

	footerSchema       = 1
	footerDictionaries = 2
	footerRecords      = 3
)

const typeUnion = 14

// checkSchema checks the lists of a schema, for which the library takes memory, and the
// nesting of its fields.
func checkSchema(schema flatTable) error {
	schema.vector(schemaMetadata, 4)
	schema.vector(schemaFeatures, 8)
	left := len(schema.b) / 8 // a field has more bytes; so many fields cannot share them
	return checkFields(schema, schemaFields, 0, &left)
}

func checkFields(parent flatTable, slot, depth int, left *int) error {
	const deepest = 64
	if depth > deepest {
		return errors.New("its columns are nested too deeply")
	}
	at, n := parent.vector(slot, 4)
	for i := range n {
		if *left--; *left < 0 {
			return errors.New("its schema refers to the same fields again and again")
		}
		field := parent.follow(at + 4*i)
		field.vector(fieldMetadata, 4)
		if of, ok := field.table(fieldType); ok && field.uint8(fieldKind) == typeUnion {
			of.vector(1, 4)
		}
		if err := checkFields(field, fieldChildren, depth+1, left); err != nil {
			return err
		}
	}
	return nil
}
