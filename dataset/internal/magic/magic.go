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

// NotText names a well-known format that is often mistaken for a table, and says how to make a table of it; else it
// returns "".
func NotText(head []byte) (format, remedy string) {
	for _, known := range []struct{ magic, format, remedy string }{
		{"PK\x03\x04", "a zip archive (or a spreadsheet)", "unpack it, or save the sheet as CSV"},
		{"\xd0\xcf\x11\xe0", "a spreadsheet (or another document of Office)", "save the sheet as CSV"},
		{"\xfd7zXZ", "xz data", "decompress it: xz -d FILE"},
		{"BZh", "bzip2 data", "decompress it: bunzip2 FILE"},
		{"\xff\xfe", "UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8 FILE, or save it as CSV in UTF-8"},
		{"\xfe\xff", "UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8 FILE, or save it as CSV in UTF-8"},
	} {
		if bytes.HasPrefix(head, []byte(known.magic)) {
			return known.format, known.remedy
		}
	}
	const convert = "convert it to CSV or Parquet, as in Python: import pandas; pandas.read_"
	switch compact := string(bytes.Join(bytes.Fields(head), nil)); {
	case strings.HasPrefix(compact, `{"`), strings.HasPrefix(compact, `[{`):
		return "JSON", convert + "json(FILE).to_parquet(TABLE), with lines=True for one object per line"
	case strings.HasPrefix(strings.ToLower(compact), "<!do"), strings.HasPrefix(strings.ToLower(compact), "<html"), strings.HasPrefix(compact, "<?xml"):
		return "HTML or XML", convert + "html(FILE)[0].to_parquet(TABLE)"
	}
	return "", ""
}
