package columnar

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/kernel-fried-tensor/kft/dataset/internal/inflate"
	"github.com/kernel-fried-tensor/kft/dataset/internal/magic"
)

// arrowMessages gives the library the messages of an Arrow file or stream. It checks
// their sizes before memory is taken for them, and it decompresses them, so that a
// damaged size cannot ask for more memory than there is data.
type arrowMessages struct {
	next    func() (meta, body []byte, err error) // io.EOF at the end
	inflate inflate.Decoder
	schema  *arrowSchema
}

// Message returns the next message, or io.EOF.
func (m *arrowMessages) Message() (*ipc.Message, error) {
	meta, body, err := m.next()
	if err != nil {
		return nil, err
	}
	if body, err = m.prepare(meta, body); err != nil {
		return nil, err
	}
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body)), nil
}

// Release does nothing: memory is garbage-collected.
func (m *arrowMessages) Release() {}

// Retain does nothing.
func (m *arrowMessages) Retain() {}

// arrowStream returns a function that reads the messages of a stream.
func arrowStream(in io.Reader) func() (meta, body []byte, err error) {
	ended := false
	return func() ([]byte, []byte, error) {
		if ended {
			return nil, nil, io.EOF
		}
		n, err := messageSize(in)
		if err == io.EOF {
			ended = true // the mark of the end may be absent
		}
		if err != nil {
			return nil, nil, err
		}
		meta, err := readPart(in, n)
		if err != nil {
			return nil, nil, err
		}
		body, err := readPart(in, flatRoot(meta).int64(messageBody))
		return meta, body, err
	}
}

// messageSize reads the size of the metadata of a message. It returns io.EOF after the
// last message.
func messageSize(in io.Reader) (int64, error) {
	var word [4]byte
	for range 2 {
		if _, err := io.ReadFull(in, word[:]); err != nil {
			if err == io.ErrUnexpectedEOF {
				err = errTruncated
			}
			return 0, err
		}
		const more = 0xffffffff // files of old writers do not have this word
		if binary.LittleEndian.Uint32(word[:]) != more {
			break
		}
	}
	n := int32(binary.LittleEndian.Uint32(word[:]))
	switch {
	case n == 0:
		return 0, io.EOF
	case n < 8:
		return 0, fmt.Errorf("metadata of %d bytes", n)
	}
	return int64(n), nil
}

// readPart reads n bytes. It makes room for them as they arrive.
func readPart(in io.Reader, n int64) ([]byte, error) {
	if n < 0 {
		return nil, fmt.Errorf("a part of %d bytes", n)
	}
	const trusted = 1 << 20
	if n <= trusted {
		part := make([]byte, n)
		if _, err := io.ReadFull(in, part); err != nil {
			return nil, truncated(err)
		}
		return part, nil
	}
	var part bytes.Buffer
	part.Grow(trusted)
	if _, err := io.CopyN(&part, in, n); err != nil {
		return nil, truncated(err)
	}
	return part.Bytes(), nil
}

func truncated(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errTruncated
	}
	return err
}

// arrowBlock is where a message of a file is.
type arrowBlock struct{ at, meta, body int64 }

// arrowFile returns a function that reads the messages of a file: the schema, then the
// dictionaries, then the record batches, whatever their order in the file.
func arrowFile(file io.ReaderAt, size int64) (func() (meta, body []byte, err error), error) {
	schema, blocks, err := arrowFooter(file, size)
	if err != nil {
		return nil, err
	}
	at := -1
	return func() ([]byte, []byte, error) {
		at++
		switch {
		case at == 0:
			return schema, nil, nil
		case at > len(blocks):
			return nil, nil, io.EOF
		}
		b := blocks[at-1]
		section := io.NewSectionReader(file, b.at, b.meta+b.body)
		n, err := messageSize(section)
		if err != nil {
			return nil, nil, err
		}
		if n > b.meta-4 {
			return nil, nil, fmt.Errorf("metadata of %d bytes in %d", n, b.meta)
		}
		meta := make([]byte, n)
		if _, err := io.ReadFull(section, meta); err != nil {
			return nil, nil, truncated(err)
		}
		if stated := flatRoot(meta).int64(messageBody); stated != b.body {
			return nil, nil, fmt.Errorf("a message of %d bytes instead of %d", stated, b.body)
		}
		body := make([]byte, b.body)
		if _, err := file.ReadAt(body, b.at+b.meta); err != nil && err != io.EOF {
			return nil, nil, err
		}
		return meta, body, nil
	}, nil
}

// arrowFooter reads the schema, as a message, and where the dictionaries and record
// batches are.
func arrowFooter(file io.ReaderAt, size int64) (schema []byte, blocks []arrowBlock, err error) {
	const mark = 6 // bytes at the end that identify the format
	var tail [4 + mark]byte
	if size < magic.Size+int64(len(tail)) {
		return nil, nil, errTruncated
	}
	if _, err := file.ReadAt(tail[:], size-int64(len(tail))); err != nil && err != io.EOF {
		return nil, nil, err
	}
	if string(tail[4:]) != "ARROW1" {
		return nil, nil, errTruncated
	}
	length := int64(int32(binary.LittleEndian.Uint32(tail[:])))
	end := size - int64(len(tail)) - length
	if length < 8 || end < magic.Size {
		return nil, nil, fmt.Errorf("a footer of %d bytes in a file of %d", length, size)
	}
	b := make([]byte, length)
	if _, err := file.ReadAt(b, end); err != nil && err != io.EOF {
		return nil, nil, err
	}
	footer, total := flatRoot(b), int64(0)
	for _, slot := range []int{footerDictionaries, footerRecords} {
		const width = 24
		at, n := footer.vector(slot, width)
		for i := range n {
			from := at + width*i
			block := arrowBlock{flatInt64(b, from), int64(int32(binary.LittleEndian.Uint32(b[from+8:]))), flatInt64(b, from+16)}
			if block.at < magic.Size || block.meta < 8 || block.body < 0 || block.at > end || block.meta > end-block.at || block.body > end-block.at-block.meta {
				return nil, nil, fmt.Errorf("a message of %d and %d bytes at %d, in %d", block.meta, block.body, block.at, end)
			}
			// Messages that share bytes would make a small file a large table.
			if total += block.meta + block.body; total > end {
				return nil, nil, errors.New("its messages overlap")
			}
			blocks = append(blocks, block)
		}
	}
	of, ok := footer.table(footerSchema)
	if !ok {
		return nil, nil, errors.New("it has no schema")
	}
	return schemaMessage(b, of.at), blocks, nil
}

// schemaMessage returns a message with the schema at a position of a footer. The file
// also starts with such a message, but not all writers write a valid one there.
func schemaMessage(footer []byte, at int) []byte {
	message := []byte{
		16, 0, 0, 0, // position of the table
		10, 0, 12, 0, 4, 0, 6, 0, 8, 0, 0, 0, // places of version, kind and header in it
		12, 0, 0, 0, // distance back to the places
		4, 0, kindSchema, 0, // version 5 of the format
		0, 0, 0, 0, // distance of the header
		0, 0, 0, 0,
	}
	binary.LittleEndian.PutUint32(message[24:], uint32(len(message)-24+at))
	return append(message, footer...)
}

// nullRows bounds the rows of a record batch that has only a few bytes for them.
const nullRows = 1 << 26

// prepare checks a message and returns its body, decompressed.
func (m *arrowMessages) prepare(meta, body []byte) ([]byte, error) {
	message := flatRoot(meta)
	header, ok := message.table(messageHeader)
	if !ok {
		return nil, errors.New("a message is empty")
	}
	kind := message.uint8(messageKind)
	if kind == kindSchema {
		var err error
		m.schema, err = readSchema(header)
		return body, err
	}
	if kind != kindDictionary && kind != kindRecord || m.schema == nil {
		return nil, fmt.Errorf("a message of type %d", kind)
	}
	need := m.schema.record
	if kind == kindDictionary {
		id := header.int64(dictionaryID)
		if need, ok = m.schema.dictionaries[id]; !ok {
			return nil, fmt.Errorf("a dictionary %d that no column has", id)
		}
		if header, ok = header.table(dictionaryData); !ok {
			return nil, errors.New("a dictionary is empty")
		}
	}
	if err := checkBatch(header, need); err != nil {
		return nil, err
	}
	body, err := m.decompress(header, body)
	if err != nil {
		return nil, err
	}
	return body, checkRows(header, len(body))
}

// checkBatch checks that a batch has the nodes and buffers that its columns need.
func checkBatch(batch flatTable, need arrowLayout) error {
	_, nodes := batch.vector(batchNodes, 16)
	_, buffers := batch.vector(batchBuffers, 16)
	at, views := batch.vector(batchVariadic, 8)
	if nodes < need.nodes || views < need.views {
		return fmt.Errorf("a batch of %d and %d parts instead of %d and %d", nodes, views, need.nodes, need.views)
	}
	for i := range views {
		v := flatInt64(batch.b, at+8*i)
		if v < 0 || v > int64(buffers) {
			return fmt.Errorf("a column of %d buffers", v)
		}
		need.buffers += int(v)
	}
	if buffers < need.buffers {
		return fmt.Errorf("a batch of %d buffers instead of %d", buffers, need.buffers)
	}
	return nil
}

// checkRows bounds the rows of a batch by the bytes that it has.
func checkRows(batch flatTable, body int) error {
	const width = 16
	rows := batch.int64(batchRows)
	if rows < 0 || rows > nullRows && rows/8 > int64(body) {
		return fmt.Errorf("a batch of %d rows in %d bytes", rows, body)
	}
	at, n := batch.vector(batchNodes, width)
	for i := range n {
		length, nulls := flatInt64(batch.b, at+width*i), flatInt64(batch.b, at+width*i+8)
		if length < 0 || nulls < 0 || nulls > length || length > nullRows && length/8 > int64(body) {
			return fmt.Errorf("a column of %d rows with %d nulls in %d bytes", length, nulls, body)
		}
	}
	return nil
}

// decompress checks the places of the buffers of a batch. If they are compressed, it
// returns a body in which they are not, each after the mark that says so, and changes
// their places in the metadata.
func (m *arrowMessages) decompress(batch flatTable, body []byte) (_ []byte, err error) {
	const width = 16
	at, n := batch.vector(batchBuffers, width)
	compression, compressed := batch.table(batchCompression)
	codec := inflate.LZ4Frame
	if compressed && compression.uint8(0) == 1 {
		codec = inflate.Zstd
	}
	var out []byte
	if compressed {
		out = make([]byte, 0, 2*len(body))
	}
	for i := range n {
		place := batch.b[at+width*i:][:width]
		from, size := flatInt64(place, 0), flatInt64(place, 8)
		if from < 0 || size < 0 || from > int64(len(body)) || size > int64(len(body))-from {
			return nil, fmt.Errorf("a buffer of %d bytes at %d in %d", size, from, len(body))
		}
		if !compressed || size == 0 {
			continue
		}
		buffer := body[from:][:size]
		if size < 8 {
			return nil, fmt.Errorf("a compressed buffer of %d bytes", size)
		}
		stated := flatInt64(buffer, 0)
		out = append(out, make([]byte, -len(out)&7)...)
		start := len(out)
		out = binary.LittleEndian.AppendUint64(out, ^uint64(0)) // not compressed
		switch {
		case stated == -1:
			out = append(out, buffer[8:]...)
		case stated > 0:
			if out, err = m.inflate.Append(out, codec, buffer[8:], int(stated)); err != nil {
				return nil, err
			}
		case stated < 0:
			return nil, fmt.Errorf("a compressed buffer states %d bytes", stated)
		}
		binary.LittleEndian.PutUint64(place, uint64(start))
		binary.LittleEndian.PutUint64(place[8:], uint64(len(out)-start))
	}
	if !compressed {
		return body, nil
	}
	return out, nil
}
