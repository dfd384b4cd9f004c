package tableio

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
	"github.com/klauspost/compress/zstd"
)

func TestReadFrame(t *testing.T) {
	t.Parallel()
	const text = "\xef\xbb\xbfstore;city;note\n 1 ;Ames;\"a;b\n\"\"c\"\"\"\n\n2;;NA\r\n3;Des Moines;x"
	want := [][]string{{"1", "2", "3"}, {"Ames", "", "Des Moines"}, {"a;b\n\"c\"", "NA", "x"}}
	for _, block := range []int{8, 16, delimited.BlockSize} {
		for _, threads := range []int{1, 4} {
			path := datasettest.WriteFile(t, "stores.csv", text)
			f, err := (&pipeline{source: Files(path), threads: threads, block: block}).readFrame(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(f.Names, []string{"store", "city", "note"}) || f.File != path || f.Len() != 3 {
				t.Fatalf("got names %q, file %s, %d rows; want store, city, note, %s, 3 rows", f.Names, f.File, f.Len(), path)
			}
			for c := range want {
				if !slices.Equal(f.Columns[c], want[c]) {
					t.Errorf("blocks of %d: column %s is %q, want %q", block, f.Names[c], f.Columns[c], want[c])
				}
			}
			if lines := []int{f.Line(0), f.Line(1), f.Line(2)}; !slices.Equal(lines, []int{2, 5, 6}) {
				t.Errorf("got lines %v, want [2 5 6]", lines)
			}
		}
	}
}

// The same table is read plain, from gzip and from zstd.
func TestFrameCompression(t *testing.T) {
	t.Chdir(t.TempDir())
	text := datasettest.SalesText(20_000, 3)
	if err := os.WriteFile("t.csv", text, 0o600); err != nil {
		t.Fatal(err)
	}
	datasettest.WriteGzip(t, "t.csv.gz", string(text))
	writeZstd(t, "t.csv.zst", text)
	records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"t.csv", "t.csv.gz", "t.csv.zst"} {
		f, err := ReadFrame(context.Background(), Files(name), Format{})
		if err != nil {
			t.Fatal(err)
		}
		if f.Len() != len(records)-1 {
			t.Fatalf("%s: %d rows, want %d", name, f.Len(), len(records)-1)
		}
		for i, record := range records[1:] {
			for c, field := range record {
				if f.Columns[c][i] != field {
					t.Fatalf("%s: row %d column %d is %q, want %q", name, i, c, f.Columns[c][i], field)
				}
			}
		}
		if f.Line(19_999) != 20_001 {
			t.Errorf("%s: got last line %d, want 20001", name, f.Line(19_999))
		}
	}
}

func TestReadFrameErrors(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "t.csv: the file is empty; give a table with a header and at least one row"},
		{"only a header", "a,b\n", "t.csv: the table has a header but no rows; give at least one row"},
		{"short line", "a,b\nx,y\nz\n", "t.csv, line 3: the line has 1 field, the table has 2 columns; fix the line, or put a field that contains ',' in quotes"},
		{"column twice", "a,a\nx,y\n", `t.csv, line 1, column "a": the header contains this column twice; rename one of them`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.WriteFile("t.csv", []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := ReadFrame(context.Background(), Files("t.csv"), Format{})
			var input *dataset.InputError
			if !errors.As(err, &input) || err.Error() != tc.want {
				t.Errorf("got error %v, want %s", err, tc.want)
			}
		})
	}
	f := dataset.NewFrame([]string{"store", "city"}, []string{"1"}, []string{"Ames"})
	if _, err := f.Find("citty"); err == nil || !strings.Contains(err.Error(), `(did you mean "city"?); choose one of store, city`) {
		t.Errorf("Find(citty): got error %v", err)
	}
	if c, err := f.Find("city"); c != 1 || err != nil || f.Line(0) != 0 {
		t.Errorf("Find(city) = %d, %v; line %d; want column 1 and line 0", c, err, f.Line(0))
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	f, err := ReadFrame(context.Background(), Files(datasettest.WriteFile(t, "t.csv", "a,b,c\nx,y,z\nu,v,w\n")), Format{})
	if err != nil {
		t.Fatal(err)
	}
	got := f.Select([]int32{1, -1, 0}, []int{2, 0})
	if fmt.Sprint(got.Names, got.Columns, got.Lines) != "[c a] [[w  z] [u  x]] [3 0 2]" || got.File != f.File {
		t.Errorf("got names %v, columns %q, lines %v", got.Names, got.Columns, got.Lines)
	}
}

func TestTruncatedZstd(t *testing.T) {
	t.Chdir(t.TempDir())
	writeZstd(t, "t.csv.zst", datasettest.SalesText(50_000, 1))
	whole, err := os.ReadFile("t.csv.zst")
	if err != nil {
		t.Fatal(err)
	}
	for _, keep := range []int{4, 5, 10, 1000, len(whole) / 2, len(whole) - 2} {
		if err := os.WriteFile("t.csv.zst", whole[:keep], 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Read(context.Background(), Files("t.csv.zst"), salesSchema, Format{}, 2)
		var input *dataset.InputError
		if !errors.As(err, &input) || input.File != "t.csv.zst" || input.Problem != "the zstd data ends too early: the file is truncated" {
			t.Errorf("%d bytes of %d: got error %v", keep, len(whole), err)
		}
	}
	damaged := bytes.Clone(whole)
	clear(damaged[len(whole)/2:][:100])
	if err := os.WriteFile("t.csv.zst", damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err = Read(context.Background(), Files("t.csv.zst"), salesSchema, Format{}, 2); err == nil || !strings.Contains(err.Error(), "the zstd data is damaged") {
		t.Errorf("damaged in the middle: got error %v", err)
	}
}

func writeZstd(tb testing.TB, path string, text []byte) {
	tb.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, z.EncodeAll(text, nil), 0o600); err != nil {
		tb.Fatal(err)
	}
}
