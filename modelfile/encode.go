package modelfile

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	alignment  = 64
	chunkBytes = 256 << 10 // bytes per write

	// maxHeader is the longest header that Python's safetensors accepts.
	maxHeader = 100_000_000

	metadataKey   = "__metadata__"
	paddingPrefix = "__padding__"
	checksumName  = "__sha256__"
	reserved      = "__" // prefix of the package's own tensor names

	formatKey     = "format"
	formatName    = "kft"
	versionKey    = "format_version"
	checksumBytes = sha256.Size
)

// gap returns the number of bytes from n to the next multiple of the alignment.
func gap(n int) int { return (alignment - n%alignment) % alignment }

// header returns the length and the padded JSON that precede the data. Misuse of
// the package panics; invalid text from a user is an error.
func (f *File) header() ([]byte, error) {
	meta, err := f.metadata()
	if err != nil {
		return nil, err
	}
	b := make([]byte, 8, 4096)
	b = append(b, `{"`+metadataKey+`":`...)
	b = append(b, meta...)
	offset, paddings := 0, 0
	add := func(name, dtype string, shape []int, size int) {
		b = append(b, ',')
		b = append(b, quote(name)...)
		b = append(b, `:{"dtype":"`+dtype+`","shape":[`...)
		for i, d := range shape {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(d), 10)
		}
		b = fmt.Appendf(b, `],"data_offsets":[%d,%d]}`, offset, offset+size)
		offset += size
	}
	seen := map[string]bool{}
	for _, t := range f.Tensors {
		if n, ok := product(t.Shape); !ok || n != t.Len() {
			panic(fmt.Sprintf("modelfile: tensor %q of shape %v has %d values", t.Name, t.Shape, t.Len()))
		}
		if seen[t.Name] || t.Name == "" || strings.HasPrefix(t.Name, reserved) {
			panic(fmt.Sprintf("modelfile: tensor name %q is empty, duplicate or reserved", t.Name))
		}
		if !utf8.ValidString(t.Name) {
			return nil, fmt.Errorf("tensor name %q is not valid UTF-8", t.Name)
		}
		seen[t.Name] = true
		add(t.Name, t.DType(), t.Shape, t.Bytes())
		if pad := gap(offset); pad > 0 {
			add(paddingPrefix+strconv.Itoa(paddings), "U8", []int{pad}, pad)
			paddings++
		}
	}
	add(checksumName, "U8", []int{checksumBytes}, checksumBytes)
	b = append(b, '}')
	b = append(b, strings.Repeat(" ", gap(len(b)))...)
	if len(b)-8 > maxHeader {
		return nil, errors.New("the metadata and tensor names exceed 100 MB")
	}
	binary.LittleEndian.PutUint64(b, uint64(len(b)-8))
	return b, nil
}

// metadata returns the JSON of the metadata: the reserved keys, then the others
// sorted.
func (f *File) metadata() ([]byte, error) {
	b := fmt.Appendf(nil, `{"%s":"%s","%s":"%d"`, formatKey, formatName, versionKey, Version)
	for _, key := range slices.Sorted(maps.Keys(f.Meta)) {
		if key == formatKey || key == versionKey {
			panic(fmt.Sprintf("modelfile: metadata key %q is reserved", key))
		}
		if value := f.Meta[key]; !utf8.ValidString(key) || !utf8.ValidString(value) {
			return nil, fmt.Errorf("metadata %q is not valid UTF-8", key)
		}
		b = append(b, ',')
		b = append(b, quote(key)...)
		b = append(b, ':')
		b = append(b, quote(f.Meta[key])...)
	}
	return append(b, '}'), nil
}

func quote(text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic("modelfile: " + err.Error()) // cannot happen for a string
	}
	return quoted
}

// encode writes the header, the tensors and the checksum.
func (f *File) encode(w io.Writer, header []byte) error {
	hash := sha256.New()
	out := func(data []byte) error {
		for piece := range slices.Chunk(data, chunkBytes) { // hash and write while in cache
			hash.Write(piece)
			if _, err := w.Write(piece); err != nil {
				return err
			}
		}
		return nil
	}
	if err := out(header); err != nil {
		return err
	}
	buffer := make([]byte, chunkBytes)
	var zeros [alignment]byte
	offset := 0
	for _, t := range f.Tensors {
		if err := t.chunks(buffer, out); err != nil {
			return err
		}
		offset += t.Bytes()
		pad := gap(offset)
		if err := out(zeros[:pad]); err != nil {
			return err
		}
		offset += pad
	}
	return out(hash.Sum(nil))
}
