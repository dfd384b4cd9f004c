package modelfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// sniffBytes is the number of bytes that notModel inspects.
const sniffBytes = 512

// minFile is the size of the shortest file with a header and a checksum.
const minFile = 8 + len("{}") + checksumBytes

// magics are the first bytes of other formats that a user may pass by mistake.
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

// notModel returns the reason why a file with these first bytes and this size is
// not a model, or "" if it may be one. In that case the file has at least minFile
// bytes and contains its whole header.
func notModel(head []byte, size int64) string {
	if size == 0 {
		return "the file is empty"
	}
	if len(head) < 9 || head[8] != '{' { // not the start of a header
		for _, m := range magics {
			if bytes.HasPrefix(head, []byte(m.bytes)) {
				return m.format + ", not a kft model"
			}
		}
		if isText(head) {
			return "a text file, such as a table or a specification, not a kft model"
		}
	}
	if size < int64(minFile) {
		return fmt.Sprintf("%d bytes are too few for a model; the file is truncated or has another format", size)
	}
	length := binary.LittleEndian.Uint64(head)
	if length > uint64(size)-8 || length < 2 || length > maxHeader {
		if length >= 2 && length <= maxHeader && head[8] == '{' {
			return fmt.Sprintf("truncated or corrupted: the file has %d bytes, but its header alone needs %d; copy the file or fit the model again", size, length)
		}
		return "not a kft model, or its first bytes are corrupted"
	}
	return ""
}

// isText reports whether the first bytes of a file are UTF-8 text. The last
// character may be incomplete.
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

// diagnose describes a file whose checksum does not match.
func diagnose(data []byte) string {
	const again = "; copy the file or fit the model again"
	h, err := parseHeader(data)
	if err != nil {
		return "checksum mismatch: the header is corrupted (" + err.Error() + ")" + again
	}
	switch size := int64(len(data)); {
	case !h.isOurs():
		return "a safetensors file, but not a kft model"
	case size < h.size():
		return fmt.Sprintf("truncated: %d of %d bytes are present%s", size, h.size(), again)
	case size > h.size():
		return fmt.Sprintf("%d extra bytes after the end%s", size-h.size(), again)
	}
	return "checksum mismatch: the content was changed" + again
}
