package magic

import "testing"

func TestFormats(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ head, columnar, compression, notText string }{
		{head: ""},
		{head: "id,y\na,1\n"},
		{head: "PAR1\x15\x04", columnar: Parquet},
		{head: "PARE\x15\x04", columnar: Parquet},
		{head: "ARROW1\x00\x00", columnar: Arrow},
		{head: "\xff\xff\xff\xff\x08", columnar: ArrowStream},
		{head: "\x1f\x8b\x08", compression: Gzip},
		{head: "\x28\xb5\x2f\xfd", compression: Zstd},
		{head: "[\n {\"a\"", notText: "JSON"},
		{head: "{\"a\":1,", notText: "JSON"},
		{head: "<!DOCTYP", notText: "HTML or XML"},
		{head: "[a],b\n1,"},
		{head: "PK\x03\x04", notText: "a zip archive (or a spreadsheet)"},
		{head: "\xd0\xcf\x11\xe0\xa1", notText: "a spreadsheet (or another document of Office)"},
		{head: "\xff\xfei\x00", notText: "UTF-16 text"},
	} {
		head := []byte(tc.head)
		if got := Columnar(head); got != tc.columnar {
			t.Errorf("Columnar(%q) = %q, want %q", tc.head, got, tc.columnar)
		}
		if got := Compression(head); got != tc.compression {
			t.Errorf("Compression(%q) = %q, want %q", tc.head, got, tc.compression)
		}
		if got, remedy := NotText(head); got != tc.notText || (remedy == "") != (got == "") {
			t.Errorf("NotText(%q) = %q, want %q", tc.head, got, tc.notText)
		}
	}
}
