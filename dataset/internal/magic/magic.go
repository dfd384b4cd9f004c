// Package magic recognizes file formats by their first bytes.
package magic

import (
	"bytes"
	"strings"
)

// The columnar formats.
const (
	Parquet     = "Parquet"
	Arrow       = "Arrow"        // an IPC file
	ArrowStream = "Arrow stream" // an IPC stream
)

// The compression formats.
const (
	Gzip = "gzip"
	Zstd = "zstd"
)

// Size is the number of bytes that the functions need.
const Size = 8

// Columnar returns the columnar format of a file that starts with head, or "".
func Columnar(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("PAR1")), bytes.HasPrefix(head, []byte("PARE")):
		return Parquet
	case bytes.HasPrefix(head, []byte("ARROW1")):
		return Arrow
	case bytes.HasPrefix(head, []byte{0xff, 0xff, 0xff, 0xff}):
		return ArrowStream
	}
	return ""
}

// Compression returns the compression of a file that starts with head, or "".
func Compression(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return Gzip
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return Zstd
	}
	return ""
}

// NotText names a well-known format that is often mistaken for a table, or
// returns "".
func NotText(head []byte) string {
	for _, known := range []struct{ magic, what string }{
		{"PK\x03\x04", "a zip archive (or a spreadsheet)"},
		{"\xfd7zXZ", "xz data"},
		{"BZh", "bzip2 data"},
		{"\xff\xfe", "UTF-16 text"},
		{"\xfe\xff", "UTF-16 text"},
	} {
		if bytes.HasPrefix(head, []byte(known.magic)) {
			return known.what
		}
	}
	switch compact := string(bytes.Join(bytes.Fields(head), nil)); {
	case strings.HasPrefix(compact, `{"`), strings.HasPrefix(compact, `[{`):
		return "JSON"
	case strings.HasPrefix(strings.ToLower(compact), "<!do"), strings.HasPrefix(strings.ToLower(compact), "<html"), strings.HasPrefix(compact, "<?xml"):
		return "HTML or XML"
	}
	return ""
}
