package modelfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// sniffBytes is how much of a file foreign looks at.
const sniffBytes = 512

// minFile is the size of the shortest file with a header and a checksum.
const minFile = 8 + len("{}") + checksumBytes

// magics begin files of other formats that a user may give by mistake.
var magics = []struct{ bytes, format string }{
	{"\x1f\x8b", "a gzip file"},
	{"PK\x03\x04", "a zip file (or a PyTorch or NumPy archive)"},
	{"\x28\xb5\x2f\xfd", "a zstd file"},
	{"BZh", "a bzip2 file"},
	{"\xfd7zXZ", "an xz file"},
	{"PAR1", "a Parquet file"},
	{"ARROW1", "an Arrow file"},
	{"SQLite format 3", "an SQLite database"},
	{"\x89HDF", "an HDF5 file"},
	{"\x93NUMPY", "a NumPy array"},
	{"\x80\x02", "a Python pickle"},
	{"\x80\x03", "a Python pickle"},
	{"\x80\x04\x95", "a Python pickle"},
	{"\x80\x05\x95", "a Python pickle"},
	{"\x7fELF", "a program"},
	{"%PDF", "a PDF document"},
}

// foreign says, from the first bytes of a file and its size, why it cannot be a
// model, or "" where it may be one. It leaves at least minFile bytes and a
// header that lies within the file.
func foreign(head []byte, size int64) string {
	if size == 0 {
		return "the file is empty"
	}
	if len(head) < 9 || head[8] != '{' { // where a header begins
		for _, m := range magics {
			if bytes.HasPrefix(head, []byte(m.bytes)) {
				return "it is " + m.format + ", not a model of kft"
			}
		}
		if isText(head) {
			return "it is a text, such as a table or a specification, not a model of kft"
		}
	}
	if size < int64(minFile) {
		return fmt.Sprintf("it has %d bytes, too few for a model: cut short, or another format", size)
	}
	length := binary.LittleEndian.Uint64(head)
	if length > uint64(size)-8 || length < 2 || length > maxHeader {
		if length >= 2 && length <= maxHeader && head[8] == '{' {
			return fmt.Sprintf("it is cut short or damaged: it has %d bytes, its header alone would have %d; copy or fit it again", size, length)
		}
		return "it is not a model of kft, or its first bytes are damaged"
	}
	return ""
}

// isText reports whether the beginning of a file reads as text in UTF-8, the
// last character of which may be cut.
func isText(head []byte) bool {
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		if r == utf8.RuneError && n == 1 && utf8.FullRune(head) || r < ' ' && r != '\n' && r != '\r' && r != '\t' {
			return false
		}
		head = head[n:]
	}
	return true
}

// diagnose says what is wrong with a file whose checksum does not match.
func diagnose(data []byte) string {
	const again = "; copy or fit it again"
	h, err := parseHeader(data)
	if err != nil {
		return "its checksum does not match: the header is damaged (" + err.Error() + ")" + again
	}
	switch size := int64(len(data)); {
	case !h.isOurs():
		return "it is a safetensors file, but not a model of kft"
	case size < h.size():
		return fmt.Sprintf("it is cut short: %d of %d bytes are there%s", size, h.size(), again)
	case size > h.size():
		return fmt.Sprintf("%d bytes follow its end%s", size-h.size(), again)
	}
	return "its checksum does not match: bytes were changed" + again
}
