package dataset

import (
	"slices"
	"strings"
	"testing"
)

func TestColumns(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		format     Format
		names      []string
		rows       int
		want       Format
	}{
		{"comma", "a,b;c\n1,2;3\n", Format{}, []string{"a", "b;c"}, 1, Format{Delimiter: ',', Header: HeaderYes}},
		{"semicolon, decimal commas", "a;b\n1,5;2,5\n2,5;3,5\n", Format{}, []string{"a", "b"}, 2, Format{Delimiter: ';', Header: HeaderYes}},
		{"tab", "a\tb, c\n1\t2, 3\n", Format{}, []string{"a", "b, c"}, 1, Format{Delimiter: '\t', Header: HeaderYes}},
		{"bar", "a|b\nx|y\n", Format{}, []string{"a", "b"}, 1, Format{Delimiter: '|', Header: HeaderYes}},
		{"one column", "part\ntrain\n", Format{}, []string{"part"}, 1, Format{Delimiter: ',', Header: HeaderYes}},
		{"quoted names", "\"a, b\", \"c\"\"d\" \n1,2\n", Format{Delimiter: ','}, []string{"a, b", "\"c\"\"d\""}, 1, Format{Delimiter: ',', Header: HeaderYes}},
		{"no header", "a,1\nb,2\n", Format{}, []string{"c1", "c2"}, 2, Format{Delimiter: ',', Header: HeaderNo}},
		{"a header said to be there", "a,1\nb,2\n", Format{Header: HeaderYes}, []string{"a", "1"}, 1, Format{Delimiter: ',', Header: HeaderYes}},
		{"nameless column", ",a\n0,1\n", Format{}, []string{"c1", "a"}, 1, Format{Delimiter: ',', Header: HeaderYes}},
		{"a space as delimiter", "a b\n1 2\n", Format{Delimiter: ' '}, []string{"a", "b"}, 1, Format{Delimiter: ' ', Header: HeaderYes}},
		{"only a thousand rows", "a,b\n" + strings.Repeat("1,2\n", 5000), Format{}, []string{"a", "b"}, 1000, Format{Delimiter: ',', Header: HeaderYes}},
	} {
		names, sample, detected, err := Columns(writeFile(t, "t.csv", tc.text), tc.format)
		if err != nil || !slices.Equal(names, tc.names) || len(sample) != tc.rows || detected != tc.want {
			t.Errorf("%s: %q, %d rows, %+v, %v", tc.name, names, len(sample), detected, err)
		}
	}
	if _, _, _, err := Columns(writeFile(t, "t.csv", "a,b\n1,2\n3\n"), Format{}); err == nil || !strings.Contains(err.Error(), "t.csv, line 3: the line has 1 field") {
		t.Errorf("a short line: %v", err)
	}
	if _, _, _, err := Columns(writeFile(t, "t.csv", strings.Repeat("a,", 1<<16)), Format{}); err == nil || !strings.Contains(err.Error(), "the first row is longer than 64 KB") {
		t.Errorf("a long header: %v", err)
	}
}

func TestParseFormat(t *testing.T) {
	for text, want := range map[string]byte{"auto": 0, "": 0, "tab": '\t', `\t`: '\t', ",": ',', "comma": ',', ";": ';', "bar": '|', "space": ' ', "^": '^'} {
		if got, err := ParseDelimiter(text); err != nil || got != want {
			t.Errorf("ParseDelimiter(%q) = %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"\"", "\n", "::", "é"} {
		if got, err := ParseDelimiter(text); err == nil {
			t.Errorf("ParseDelimiter(%q) = %q", text, got)
		}
	}
	for h := HeaderAuto; h <= HeaderNo; h++ {
		if got, err := ParseHeader(h.String()); err != nil || got != h {
			t.Errorf("ParseHeader(%q) = %v, %v", h, got, err)
		}
	}
	if _, err := ParseHeader("maybe"); err == nil || err.Error() != `unknown header "maybe"; write auto, yes or no` {
		t.Errorf("ParseHeader: %v", err)
	}
}
