package delimited

import (
	"bytes"
	"fmt"
	"io"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
	"github.com/kernel-fried-tensor/kft/dataset/internal/magic"
)

// BlockSize is the number of bytes read at a time. It fixes the borders of blocks, so
// that results do not depend on the number of threads.
const BlockSize = 256 << 10

const (
	headSize      = 64 << 10 // bytes in which delimiter and header are detected
	longestRecord = 16 << 20 // a longer record is a quote that is never closed
	padding       = 64       // zero bytes after a block's text, so that it can be loaded by vectors
)

// Blocks reads the text of one input in blocks of whole records.
type Blocks struct {
	name         string
	in           io.Reader
	decompressor io.Closer // or nil
	codec        string    // compression, or ""
	delimiter    byte
	size         int    // bytes to read at a time
	carry        []byte // read but not returned yet
	eof          bool
	quoted       bool  // the block returned last may contain a quote
	marked       bool  // the text started with a byte order mark
	read         int64 // bytes of the input, if it is not compressed
	limit        int64 // Next stops when as many are read; 0 for none, see Restrict
	decoded      int   // lines that were not UTF-8, not counted for a block yet
	blockDecoded int   // such lines of the block returned last
}

// Open starts to read a text. It decompresses gzip and zstd, drops a byte order mark
// and reads the first bytes, in which the format is detected. The name is used in
// errors; size is the number of bytes to read at a time, usually [BlockSize].
func Open(name string, in io.Reader, size int) (*Blocks, error) {
	b := &Blocks{name: name, in: in, size: size}
	if err := b.readHead(); err != nil {
		b.Close()
		return nil, dataset.InFile(err, name)
	}
	return b, nil
}

// Close releases the decompressor. It does not close the input.
func (b *Blocks) Close() {
	if b.decompressor != nil {
		b.decompressor.Close()
	}
}

// Quoted reports whether the block returned last may contain a quote.
func (b *Blocks) Quoted() bool { return b.quoted }

func (b *Blocks) readHead() error {
	head := make([]byte, headSize)
	n, err := readFull(b.in, head[:magic.Size])
	if b.codec = magic.Compression(head[:n]); b.codec != "" {
		z, unpackErr := decompress(b.codec, io.MultiReader(bytes.NewReader(bytes.Clone(head[:n])), b.in))
		if unpackErr != nil {
			return readProblem(unpackErr, b.codec, 0)
		}
		b.in, b.decompressor = z, z
		n, err = 0, nil
	}
	if err == nil {
		var m int
		m, err = readFull(b.in, head[n:])
		n += m
	}
	if err != nil && err != io.EOF {
		return readProblem(err, b.codec, 1+bytes.Count(head[:n], newline))
	}
	head, b.read = head[:n], int64(n)
	if format := magic.Columnar(head); format != "" && b.codec != "" {
		return &dataset.InputError{Problem: fmt.Sprintf("this is %s data within %s", format, b.codec), Remedy: "decompress it; " + format + " has its own compression"}
	}
	if format, remedy := magic.NotText(head); format != "" {
		return &dataset.InputError{Problem: "this is " + format + ", which is not supported", Remedy: remedy}
	}
	if len(head) > magic.Size && bytes.HasPrefix(head[magic.Size:], []byte(`{"__metadata__":{"format":"kft"`)) {
		return &dataset.InputError{Problem: "this is a kft model, not a table", Remedy: "give CSV or TSV (plain, gzip or zstd), Parquet or Arrow"}
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return &dataset.InputError{Problem: "this is not text: it contains zero bytes", Remedy: "give CSV or TSV (plain, gzip or zstd), Parquet or Arrow"}
	}
	b.eof = err == io.EOF
	b.carry, b.marked = bytes.CutPrefix(head, []byte(ByteOrderMark))
	if carriageReturnsOnly(b.carry) {
		return &dataset.InputError{Problem: "the lines end in a carriage return alone", Remedy: "save the file with Unix (LF) or Windows (CRLF) line ends: tr '\\r' '\\n' < FILE"}
	}
	if b.eof && len(bytes.TrimSpace(b.carry)) == 0 {
		return &dataset.InputError{Problem: "the file is empty", Remedy: "give a table with a header and at least one row"}
	}
	b.decodeHead()
	return nil
}

// ByteOrderMark may precede a text. Spreadsheet programs write it.
const ByteOrderMark = "\xef\xbb\xbf"

var newline = []byte{'\n'}

// carriageReturnsOnly reports whether rows end in a carriage return without a
// newline, as on old Macintosh computers. The first row suffices to decide.
func carriageReturnsOnly(head []byte) bool {
	return bytes.IndexByte(head, '\n') < 0 && bytes.Contains(bytes.TrimRight(head, "\r"), []byte{'\r'})
}

// readFull fills dst. Unlike io.ReadFull it returns io.EOF only at a proper end, so a
// truncated gzip stream (io.ErrUnexpectedEOF) is recognized.
func readFull(r io.Reader, dst []byte) (n int, err error) {
	for n < len(dst) && err == nil {
		var m int
		m, err = r.Read(dst[n:])
		n += m
	}
	if n == len(dst) {
		err = nil
	}
	return n, err
}

// Next reads a block into buf, which it may replace, and returns buf and the length
// of the whole records at its front. The rest is kept for the next block. A newline
// is appended to the last record if it has none. io.EOF ends the input. The line of
// an error is relative to the first line that was not returned yet.
func (b *Blocks) Next(buf []byte) ([]byte, int, error) {
	buf, n, err := b.Take(buf)
	if err != nil {
		return buf, n, err
	}
	text, lines := Decode(buf[:n])
	b.blockDecoded += lines
	return text[:len(text)+padding], len(text), nil
}

// Take is Next without decoding, which can be done for several blocks at once; see [Decode].
func (b *Blocks) Take(buf []byte) ([]byte, int, error) {
	if b.eof && len(b.carry) == 0 || b.limit > 0 && b.read >= b.limit {
		return buf, 0, io.EOF
	}
	buf = append(buf[:0], b.carry...)
	for {
		if !b.eof {
			n := len(buf)
			buf = grow(buf, n+b.size)
			m, err := readFull(b.in, buf[n:n+b.size])
			buf, b.read = buf[:n+m], b.read+int64(m)
			if err != nil && err != io.EOF {
				b.eof, b.carry = true, nil
				return buf, 0, readProblem(err, b.codec, bytes.Count(buf, newline))
			}
			b.eof = err == io.EOF
		}
		cut := len(buf)
		if b.eof {
			if cut > 0 && buf[cut-1] != '\n' {
				buf = append(buf, '\n')
				cut++
			}
			b.quoted = bytes.IndexByte(buf, '"') >= 0
		} else {
			cut, b.quoted = lastRecordEnd(buf, b.delimiter)
		}
		if cut == 0 && !b.eof {
			if len(buf) > longestRecord {
				b.eof, b.carry = true, nil
				return buf, 0, unendingRecord()
			}
			continue
		}
		b.carry = append(b.carry[:0], buf[cut:]...)
		b.blockDecoded, b.decoded = b.decoded, 0
		buf = grow(buf, cut+padding)
		clear(buf[cut : cut+padding])
		return buf, cut, nil
	}
}

// grow returns buf with a capacity and length of at least n.
func grow(buf []byte, n int) []byte {
	if n > cap(buf) {
		buf = append(make([]byte, 0, n+n/8+padding), buf...)
	}
	return buf[:max(n, len(buf))]
}

// lastRecordEnd returns the position after the last newline that ends a record, which
// is the last newline outside quotes, and whether there are quotes at all. The text
// starts with a record.
func lastRecordEnd(text []byte, delimiter byte) (end int, quoted bool) {
	for at := 0; at < len(text); {
		quote := bytes.IndexByte(text[at:], '"')
		if quote < 0 {
			if last := bytes.LastIndexByte(text[at:], '\n'); last >= 0 {
				end = at + last + 1
			}
			return end, quoted
		}
		quoted = true
		quote += at
		if last := bytes.LastIndexByte(text[at:quote], '\n'); last >= 0 {
			end = at + last + 1
		}
		at = quote + 1
		if quote > 0 && text[quote-1] != '\n' && text[quote-1] != delimiter {
			continue // a quote within a field is an ordinary character
		}
		if at = fieldtext.ClosingQuote(text, at) + 1; at == 0 {
			return end, true
		}
	}
	return end, quoted
}
