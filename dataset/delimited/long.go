package delimited

import (
	"bytes"
	"io"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// replace puts the stand-in for a delimiter of several characters into the rest of the
// text, so that everything behind it works on one byte.
func (b *Blocks) replace(delimiter string) error {
	if len(delimiter) > longestDelimiter {
		return &dataset.InputError{Problem: "the delimiter is too long", Remedy: "choose another, or let it be detected", Field: "data.delimiter"}
	}
	in := io.Reader(bytes.NewReader(bytes.Clone(b.carry)))
	if !b.eof {
		in = io.MultiReader(in, b.in)
	}
	b.in = &replacer{in: in, delimiter: []byte(delimiter), start: true}
	head := make([]byte, headSize)
	n, err := readFull(b.in, head)
	if err != nil && err != io.EOF {
		return readProblem(err, b.codec, 1+bytes.Count(head[:n], newline))
	}
	b.eof, b.carry = err == io.EOF, head[:n]
	return nil
}

// replaceDelimiter returns a text with the stand-in for a delimiter.
func replaceDelimiter(text []byte, delimiter string) []byte {
	out, err := io.ReadAll(&replacer{in: bytes.NewReader(text), delimiter: []byte(delimiter), start: true})
	if err != nil { // a bytes.Reader has none
		return text
	}
	return out
}

// replacer reads a text and replaces a delimiter by the stand-in, except in fields in
// quotes.
type replacer struct {
	in        io.Reader
	delimiter []byte
	pending   []byte // read but not replaced yet
	buf       []byte
	err       error // of in
	start     bool  // the next byte starts a field
	quoted    bool  // within a field in quotes
}

func (r *replacer) Read(dst []byte) (int, error) {
	for len(r.pending) < len(r.delimiter) && r.err == nil {
		if r.buf == nil {
			r.buf = make([]byte, 64<<10)
		}
		var n int
		n, r.err = r.in.Read(r.buf)
		r.pending = append(r.pending, r.buf[:n]...)
	}
	n := 0
	for n < len(dst) && len(r.pending) > 0 {
		if len(r.pending) < len(r.delimiter) && r.err == nil {
			break // it may be the front of a delimiter
		}
		c := r.pending[0]
		switch {
		case r.quoted:
			r.quoted = c != '"' // a doubled quote opens the field again below
			r.start = c == '"' && len(r.pending) > 1 && r.pending[1] == '"'
		case bytes.HasPrefix(r.pending, r.delimiter):
			dst[n] = standIn
			n++
			r.pending, r.start = r.pending[len(r.delimiter):], true
			continue
		default:
			r.quoted = r.start && c == '"'
			r.start = c == '\n'
		}
		dst[n] = c
		n++
		r.pending = r.pending[1:]
	}
	if len(r.pending) == 0 && r.err != nil {
		return n, r.err
	}
	return n, nil
}
