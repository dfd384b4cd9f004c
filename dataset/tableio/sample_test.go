package tableio

import (
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
)

func TestReadSample(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		format     Format
		names      []string
		rows       int
		want       Format
	}{
		{"comma", "a,b;c\n1,2;3\n", Format{}, []string{"a", "b;c"}, 1, Format{Delimiter: ',', Header: delimited.HeaderYes}},
		{"semicolon, decimal commas", "a;b\n1,5;2,5\n2,5;3,5\n", Format{}, []string{"a", "b"}, 2, Format{Delimiter: ';', Header: delimited.HeaderYes}},
		{"tab", "a\tb, c\n1\t2, 3\n", Format{}, []string{"a", "b, c"}, 1, Format{Delimiter: '\t', Header: delimited.HeaderYes}},
		{"bar", "a|b\nx|y\n", Format{}, []string{"a", "b"}, 1, Format{Delimiter: '|', Header: delimited.HeaderYes}},
		{"one column", "part\ntrain\n", Format{}, []string{"part"}, 1, Format{Delimiter: ',', Header: delimited.HeaderYes}},
		{"quoted names", "\"a, b\", \"c\"\"d\" \n1,2\n", Format{Delimiter: ','}, []string{"a, b", "\"c\"\"d\""}, 1, Format{Delimiter: ',', Header: delimited.HeaderYes}},
		{"no header", "a,1\nb,2\n", Format{}, []string{"c1", "c2"}, 2, Format{Delimiter: ',', Header: delimited.HeaderNo}},
		{"header set to yes", "a,1\nb,2\n", Format{Header: delimited.HeaderYes}, []string{"a", "1"}, 1, Format{Delimiter: ',', Header: delimited.HeaderYes}},
		{"column without name", ",a\n0,1\n", Format{}, []string{"c1", "a"}, 1, Format{Delimiter: ',', Header: delimited.HeaderYes}},
		{"a space as delimiter", "a b\n1 2\n", Format{Delimiter: ' '}, []string{"a", "b"}, 1, Format{Delimiter: ' ', Header: delimited.HeaderYes}},
		{"at most a thousand rows", "a,b\n" + strings.Repeat("1,2\n", 5000), Format{}, []string{"a", "b"}, 1000, Format{Delimiter: ',', Header: delimited.HeaderYes}},
	} {
		got, err := ReadSample(Files(datasettest.WriteFile(t, "t.csv", tc.text)), tc.format, 1000)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if !slices.Equal(got.Names, tc.names) || len(got.Rows) != tc.rows || got.Format != tc.want {
			t.Errorf("%s: got %q, %d rows, %+v; want %q, %d rows, %+v", tc.name, got.Names, len(got.Rows), got.Format, tc.names, tc.rows, tc.want)
		}
	}
	if _, err := ReadSample(Files(datasettest.WriteFile(t, "t.csv", "a,b\n1,2\n3\n")), Format{}, 1000); err == nil || !strings.Contains(err.Error(), "t.csv, line 3: the line has 1 field") {
		t.Errorf("a short line: got error %v", err)
	}
	if _, err := ReadSample(Files(datasettest.WriteFile(t, "t.csv", strings.Repeat("a,", 1<<16))), Format{}, 1000); err == nil || !strings.Contains(err.Error(), "the first row is longer than 64 KB") {
		t.Errorf("a long header: got error %v", err)
	}
}
