package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	blockSize     = 256 << 10 // bytes read at a time; fixes the borders of chunks, so results do not depend on threads
	headSize      = 64 << 10  // bytes looked at to find delimiter and header
	longestRecord = 16 << 20  // a record longer than this is a quote that was never closed
	padding       = 64        // zero bytes after a chunk's text, so that it can be loaded a vector at a time
)

// source hands out the text of one file in chunks that end where records end.
type source struct {
	name      string
	in        io.Reader
	closers   []io.Closer
	codec     string // compression, or ""
	delimiter byte
	block     int
	carry     []byte // read but not handed out yet
	eof       bool
	quoted    bool // the text handed out last may hold a quote
	marked    bool // the text began with a byte order mark
}

// openSource opens a file, or standard input for "-", looks through gzip and zstd, drops a
// byte order mark and reads the head that formats are detected from.
func openSource(name string, stdin io.Reader, block int) (*source, error) {
	s := &source{name: name, in: stdin, block: block}
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, &InputError{File: name, Problem: openProblem(err), Remedy: "check the path", Err: err}
		}
		s.in = f
		s.closers = append(s.closers, f)
		if info, err := f.Stat(); err == nil && info.IsDir() {
			s.close()
			return nil, &InputError{File: name, Problem: "this is a folder", Remedy: "name the files in it"}
		}
	}
	if err := s.readHead(); err != nil {
		s.close()
		return nil, inFile(err, name)
	}
	return s, nil
}

func openProblem(err error) string {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "no such file"
	case errors.Is(err, os.ErrPermission):
		return "may not be read"
	}
	return err.Error()
}

func (s *source) close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		s.closers[i].Close()
	}
}

func (s *source) readHead() error {
	head := make([]byte, headSize)
	n, err := readFull(s.in, head[:magicSize])
	if s.codec = codecOf(head[:n]); s.codec != "" {
		z, unpackErr := decompress(s.codec, io.MultiReader(bytes.NewReader(bytes.Clone(head[:n])), s.in))
		if unpackErr != nil {
			return readProblem(unpackErr, s.codec, 0)
		}
		s.in = z
		s.closers = append(s.closers, z)
		n, err = 0, nil
	}
	if err == nil {
		var m int
		m, err = readFull(s.in, head[n:])
		n += m
	}
	if err != nil && err != io.EOF {
		return readProblem(err, s.codec, 1+bytes.Count(head[:n], newline))
	}
	head = head[:n]
	if format := typedFormat(head); format != "" && s.codec != "" {
		return &InputError{Problem: fmt.Sprintf("this is %s data within %s", format, s.codec), Remedy: "decompress it: such a file is compressed within"}
	}
	if problem := notText(head); problem != "" {
		return &InputError{Problem: problem, Remedy: "give CSV or TSV (plain, gzip or zstd), Parquet or Arrow"}
	}
	s.eof = err == io.EOF
	s.carry, s.marked = bytes.CutPrefix(head, []byte(byteOrderMark))
	if carriageReturnsOnly(s.carry) {
		return &InputError{Problem: "its lines end in a carriage return alone", Remedy: "save it with line ends of Unix (LF) or Windows (CRLF): tr '\\r' '\\n' < FILE"}
	}
	if s.eof && len(bytes.TrimSpace(s.carry)) == 0 {
		return &InputError{Problem: "the file is empty", Remedy: "give a table with a header and at least one row"}
	}
	return nil
}

// byteOrderMark may stand before a text; spreadsheets put it there.
const byteOrderMark = "\xef\xbb\xbf"

var newline = []byte{'\n'}

// carriageReturnsOnly reports whether the rows of a text end as they did on old
// Macintosh machines. The first row is enough to tell.
func carriageReturnsOnly(head []byte) bool {
	return bytes.IndexByte(head, '\n') < 0 && bytes.Contains(bytes.TrimRight(head, "\r"), []byte{'\r'})
}

// notText names the well-known formats that are taken for tables by mistake.
func notText(head []byte) string {
	for _, known := range []struct{ magic, what string }{
		{"PK\x03\x04", "a zip archive (or a spreadsheet)"},
		{"\xfd7zXZ", "xz data"},
		{"BZh", "bzip2 data"},
		{"\xff\xfe", "UTF-16 text"},
		{"\xfe\xff", "UTF-16 text"},
	} {
		if bytes.HasPrefix(head, []byte(known.magic)) {
			return "this is " + known.what + ", which is not read"
		}
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return "this is not text: it holds zero bytes"
	}
	return ""
}

// readFull fills dst. Unlike io.ReadFull it returns io.EOF alone for a proper
// end, so that a truncated gzip stream (io.ErrUnexpectedEOF) is told apart.
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

// next reads a block into buf, which it may replace, and returns buf and the
// length of the whole records at its front; the rest is carried over. The last
// record gets its newline where it lacks one. io.EOF ends the source. An error's
// line is relative to the text returned last.
func (s *source) next(buf []byte) ([]byte, int, error) {
	if s.eof && len(s.carry) == 0 {
		return buf, 0, io.EOF
	}
	buf = append(buf[:0], s.carry...)
	for {
		if !s.eof {
			n := len(buf)
			buf = grow(buf, n+s.block)
			m, err := readFull(s.in, buf[n:n+s.block])
			buf = buf[:n+m]
			if err != nil && err != io.EOF {
				s.eof, s.carry = true, nil
				return buf, 0, readProblem(err, s.codec, bytes.Count(buf, newline))
			}
			s.eof = err == io.EOF
		}
		cut := len(buf)
		if s.eof {
			if cut > 0 && buf[cut-1] != '\n' {
				buf = append(buf, '\n')
				cut++
			}
			s.quoted = bytes.IndexByte(buf, '"') >= 0
		} else {
			cut, s.quoted = lastRecordEnd(buf, s.delimiter)
		}
		if cut == 0 && !s.eof {
			if len(buf) > longestRecord {
				s.eof, s.carry = true, nil
				return buf, 0, &InputError{Problem: fmt.Sprintf("the record that starts here does not end within %d MB", longestRecord>>20),
					Remedy: "close the quote that opens in it, or check that this is a table"}
			}
			continue
		}
		s.carry = append(s.carry[:0], buf[cut:]...)
		buf = grow(buf, cut+padding)
		clear(buf[cut : cut+padding])
		return buf, cut, nil
	}
}

// grow returns buf with a capacity and length of n at least.
func grow(buf []byte, n int) []byte {
	if n > cap(buf) {
		buf = append(make([]byte, 0, n+n/8+padding), buf...)
	}
	return buf[:max(n, len(buf))]
}

// lastRecordEnd returns the position after the last newline that ends a record,
// which is the last newline that is not within quotes, and whether there are
// quotes at all. The text starts with a record.
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
			continue // a quote within a field stands for itself
		}
		if at = closingQuote(text, at) + 1; at == 0 {
			return end, true
		}
	}
	return end, quoted
}

// closingQuote returns the position of the quote that closes a field whose text
// starts at from, or -1. Two quotes stand for one within the field.
func closingQuote(text []byte, from int) int {
	for {
		q := bytes.IndexByte(text[from:], '"')
		if q < 0 {
			return -1
		}
		q += from
		if q+1 == len(text) || text[q+1] != '"' {
			return q
		}
		from = q + 2
	}
}
