package modelfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// Decode reads a model file from its bytes, which it does not retain. name is
// used in error messages.
func Decode(data []byte, name string) (*File, error) {
	return verified(func(use func(*File) error) error { return decodeWith(data, name, use) })
}

// verified returns the file that read passes on, unless it turns out to be wrong.
func verified(read func(use func(*File) error) error) (f *File, err error) {
	if err = read(func(parsed *File) error { f = parsed; return nil }); err != nil {
		return nil, err
	}
	return f, nil
}

// decodeWith reads a model file from its bytes and calls use with it, at the same time as it computes the
// checksum, which takes as long. The error is that of the file, if it has one, and otherwise that of use.
func decodeWith(data []byte, name string, use func(*File) error) error {
	fail := func(problem string) error { return &FormatError{File: name, Problem: problem} }
	if problem := notModel(data[:min(len(data), sniffBytes)], int64(len(data))); problem != "" {
		return fail(problem)
	}
	body := data[:len(data)-checksumBytes]
	sum := make(chan [checksumBytes]byte, 1)
	go func() { sum <- sha256.Sum256(body) }()
	f, problem := parse(data)
	var err error
	if problem == "" {
		err = use(f)
	}
	if sum := <-sum; !bytes.Equal(sum[:], data[len(body):]) {
		problem = diagnose(data)
	}
	if problem != "" {
		return fail(problem)
	}
	return err
}

// parse reads a file, or returns what is wrong with it other than its checksum.
func parse(data []byte) (f *File, problem string) {
	h, err := parseHeader(data)
	if err != nil {
		return nil, "invalid header: " + err.Error()
	}
	if problem := h.wrongFormat(); problem != "" {
		return nil, problem
	}
	if len(h.tensors) == 0 || h.size() != int64(len(data)) {
		return nil, fmt.Sprintf("the header describes %d bytes, but the file has %d", h.size(), len(data))
	}
	if last := h.tensors[len(h.tensors)-1]; last.name != checksumName || last.end-last.begin != checksumBytes {
		return nil, "the last tensor is not a checksum"
	}
	f = &File{Meta: h.meta}
	delete(f.Meta, formatKey)
	delete(f.Meta, versionKey)
	entries := slices.DeleteFunc(h.tensors, func(e entry) bool { return strings.HasPrefix(e.name, reserved) })
	f.Tensors = slices.Grow(f.Tensors, len(entries))[:len(entries)]
	parallel.For(runtime.GOMAXPROCS(0), len(entries), func(k int) {
		e := entries[k]
		f.Tensors[k] = parseTensor(e.name, e.dtype, e.shape, data[h.dataStart+e.begin:h.dataStart+e.end])
	})
	return f, ""
}

// A header is the parsed and validated header of a file.
type header struct {
	dataStart int64
	meta      map[string]string
	tensors   []entry
}

type entry struct {
	name       string
	dtype      string
	shape      []int
	begin, end int64 // offsets in the data section
}

// size returns the size of the file that the header describes.
func (h *header) size() int64 {
	if len(h.tensors) == 0 {
		return h.dataStart
	}
	return h.dataStart + h.tensors[len(h.tensors)-1].end
}

// isOurs reports whether the header has any kft marker.
func (h *header) isOurs() bool {
	return h.meta[formatKey] == formatName ||
		len(h.tensors) > 0 && h.tensors[len(h.tensors)-1].name == checksumName
}

// wrongFormat returns the reason why this package cannot read the file, or "".
func (h *header) wrongFormat() string {
	if h.meta[formatKey] != formatName {
		return "a safetensors file, but not a kft model"
	}
	version, err := strconv.Atoi(h.meta[versionKey])
	switch {
	case err != nil || version < 1:
		return fmt.Sprintf("invalid format version %q", h.meta[versionKey])
	case version > Version:
		return fmt.Sprintf("format version %d is newer than the supported version %d; update kft", version, Version)
	}
	return ""
}

// parseHeader parses and validates the header of a file accepted by notModel. Its
// allocations are bounded by the length of the header. The caller must check that
// the described data is present.
func parseHeader(data []byte) (*header, error) {
	length := binary.LittleEndian.Uint64(data)
	if length > uint64(len(data)-8) || length > maxHeader {
		return nil, fmt.Errorf("its length is %d bytes", length)
	}
	h := &header{dataStart: 8 + int64(length)}
	d := json.NewDecoder(bytes.NewReader(data[8:h.dataStart]))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return nil, errors.New("it is not a JSON object")
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		key := token.(string) // the decoder accepts only strings as keys
		if seen[key] {
			return nil, fmt.Errorf("%q appears twice", key)
		}
		seen[key] = true
		if key == metadataKey {
			if err := d.Decode(&h.meta); err != nil {
				return nil, fmt.Errorf("metadata: %w", err)
			}
			continue
		}
		if err := h.parseEntry(d, key); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", key, err)
		}
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return nil, err
	}
	if rest := data[8+d.InputOffset() : h.dataStart]; len(bytes.Trim(rest, " ")) > 0 {
		return nil, errors.New("unexpected content after the JSON object")
	}
	return h, nil
}

// parseEntry parses the entry of a tensor, which must start where the previous one ended.
func (h *header) parseEntry(d *json.Decoder, name string) error {
	var fields struct {
		DType   string  `json:"dtype"`
		Shape   []int   `json:"shape"`
		Offsets []int64 `json:"data_offsets"`
	}
	if err := d.Decode(&fields); err != nil {
		return err
	}
	if fields.Shape == nil || len(fields.Offsets) != 2 {
		return errors.New("the shape or the two data_offsets are missing")
	}
	e := entry{name: name, dtype: fields.DType, shape: fields.Shape, begin: fields.Offsets[0], end: fields.Offsets[1]}
	size := elementBytes(e.dtype)
	if size == 0 {
		return fmt.Errorf("unknown dtype %q", e.dtype)
	}
	n, ok := product(e.shape)
	if !ok || n > math.MaxInt/size {
		return fmt.Errorf("invalid shape %v", e.shape)
	}
	if last := h.size() - h.dataStart; e.begin != last {
		return fmt.Errorf("the data start at %d, but the previous tensor ends at %d", e.begin, last)
	}
	if e.end < e.begin || e.end-e.begin != int64(n)*int64(size) || e.end > math.MaxInt64-h.dataStart {
		return fmt.Errorf("the data from %d to %d do not match shape %v of %s", e.begin, e.end, e.shape, e.dtype)
	}
	if name == "" || strings.HasPrefix(name, reserved) && name != checksumName && !strings.HasPrefix(name, paddingPrefix) {
		return errors.New("reserved or empty name")
	}
	h.tensors = append(h.tensors, e)
	return nil
}
