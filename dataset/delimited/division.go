package delimited

import (
	"bytes"
	"fmt"
	"io"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// A Division is a part of a plain file whose blocks are read in any order, several at once. It
// has the blocks that [Blocks.Take] would return, except that a record which is longer than a
// block makes blocks without text, and belongs to the block in which it ends.
//
// Where a block starts depends on the quotes before it, because a line end may be quoted. A
// Piece assumes that the last line end before the block ends a record, and is cut again if the
// block before it ends elsewhere.
type Division struct {
	Blocks int

	file      io.ReaderAt
	start     int64 // of the first record
	from      int64 // of the bytes that block 0 adds to those read before
	size      int64 // bytes that a block adds
	delimiter byte
}

// leastDivided is the number of blocks from which a text is divided.
const leastDivided = 2

// Divide returns the whole blocks that follow the one returned last, of a file that has so many
// bytes. It returns nil if the text cannot be divided: it is compressed, has a delimiter of several characters,
// starts with lines that are not UTF-8 or is short. Next and Take must not be called before [Blocks.Resume].
func (b *Blocks) Divide(file io.ReaderAt, length int64) *Division {
	if _, ok := b.in.(io.Seeker); !ok || b.codec != "" || b.eof || b.blockDecoded > 0 {
		return nil
	}
	if b.limit > 0 {
		length = min(length, b.limit)
	}
	blocks := (length - b.read) / int64(b.size)
	if blocks < leastDivided {
		return nil
	}
	return &Division{Blocks: int(blocks), file: file, start: b.Offset(), from: b.read, size: int64(b.size), delimiter: b.delimiter}
}

// Start returns the position at which the first block starts.
func (d *Division) Start() int64 { return d.start }

// Resume continues behind a division, whose last block ends at a position.
func (b *Blocks) Resume(d *Division, position int64) error {
	b.read = d.from + int64(d.Blocks)*d.size
	b.carry = make([]byte, b.read-position)
	if n, err := d.file.ReadAt(b.carry, position); n < len(b.carry) {
		return dataset.InFile(readProblem(truncated(err), "", 0), b.name)
	}
	if _, err := b.in.(io.Seeker).Seek(b.read, io.SeekStart); err != nil {
		return dataset.InFile(readProblem(err, "", 0), b.name)
	}
	return nil
}

// truncated returns the error of a file that became shorter while it was read.
func truncated(err error) error {
	if err == io.EOF || err == nil {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A Piece is a block of a division that has been read.
type Piece struct {
	division *Division
	begin    int64  // position of the first byte that the block adds
	text     []byte // from start to the end of the block; nil if the start is not known
	start    int64
	cut      int // length of the whole records at the front of text
	quoted   bool
	err      error // of reading
}

// lookBehind is the number of bytes before a block in which the last line end is searched.
const lookBehind = 4 << 10

// Read reads a block into the memory of buf, which it may replace. It returns the memory.
func (d *Division) Read(block int, buf []byte) (Piece, []byte) {
	p := Piece{division: d, begin: d.from + int64(block)*d.size}
	start := d.start
	if block > 0 {
		start = max(start, p.begin-lookBehind)
	}
	buf = p.load(start, buf)
	if p.err != nil {
		return p, buf
	}
	if block > 0 {
		behind := int(p.begin - start)
		at := bytes.LastIndexByte(p.text[:behind], '\n') + 1
		if at == 0 {
			p.text = nil
			return p, buf
		}
		p.text, p.start = p.text[at:], start+int64(at)
	}
	p.cut, p.quoted = lastRecordEnd(p.text, d.delimiter)
	return p, buf
}

// load reads the text from a position to the end of the block.
func (p *Piece) load(start int64, buf []byte) []byte {
	n := int(p.begin + p.division.size - start)
	buf = grow(buf[:0], n+padding)
	p.start, p.text = start, buf[:n]
	if m, err := p.division.file.ReadAt(p.text, start); m < n {
		p.text, p.err = buf[:m], truncated(err)
	}
	return buf
}

// Cut returns the whole records of the block, which starts at a position, followed by padding,
// whether they may contain a quote, and the position at which the next block starts. There may be
// none. The line of an error is relative to the block. It may replace the memory of buf, which is
// that of the piece, and returns it.
func (p *Piece) Cut(start int64, buf []byte) (text []byte, quoted bool, next int64, memory []byte, err error) {
	if p.text == nil || p.start != start {
		p.err = nil
		buf = p.load(start, buf)
		if p.err == nil {
			p.cut, p.quoted = lastRecordEnd(p.text, p.division.delimiter)
		}
	}
	switch {
	case p.err != nil:
		return nil, false, start, buf, readProblem(p.err, "", bytes.Count(p.text, newline))
	case p.cut == 0 && len(p.text) > longestRecord:
		return nil, false, start, buf, unendingRecord()
	case p.cut == 0:
		return nil, false, start, buf, nil
	}
	text = p.text[:p.cut+padding]
	clear(text[p.cut:])
	return text[:p.cut], p.quoted, start + int64(p.cut), buf, nil
}

// unendingRecord returns the error of a record that is too long.
func unendingRecord() *dataset.InputError {
	return &dataset.InputError{Problem: fmt.Sprintf("the record that starts here does not end within %d MB", longestRecord>>20),
		Remedy: "close the quote that it opens, or check that the file is a table"}
}
