package tableio

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
	"github.com/kernel-fried-tensor/kft/dataset/internal/magic"
)

// FuzzRead compares the fields with those of encoding/csv, and the tables for several
// numbers of threads and block sizes with each other.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"a,1\nb,2\n",
		"a,1\r\nb,2\r\n",
		"\"a\",1\n\"b,c\",2\n\"d\"\"e\",3\n\"f\r\ng\",4",
		"a\nb\n\nc\n",
		"\n\r\na,b,c\n1,2,3\n",
		"a,b\n1\n",
		"a,b\n1,2,3\n",
		"x904631,1e3\n007,-2.5\n7,+3\n ,4\n",
		"long identifier,12345678\nlong identifier,123456789\n",
		"\"unclosed,1\nb,2\n",
		"a\"b,1\nc\"\",2\n",
		"\"a\"b,1\n",
		"a,1\nb,NA\nc,\nd,nan\n",
		"\"\"\n\"\"\n",
		"a,1\r",
		"\r0",
		"\r,\r\n\x00,\x00\n",
		"\ufeff\n1,\ta\n",
		"\ufeff\r\n\"#\", \r",
		"\xc1ed,1\nb\x81\x9c,2\nÁ,3\n",
		strings.Repeat("abc,12\n", 40) + "\"q\",1\n" + strings.Repeat("abcdefghi,12\n", 40),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return // small blocks are slow
		}
		path := filepath.Join(t.TempDir(), "t.csv")
		datasettest.WriteFile(t, path, text)
		compareFields(t, path, text)
		compareTables(t, path)
	})
}

// FuzzArrow and FuzzParquet read files in all ways, see attackFile.
func FuzzArrow(f *testing.F) { fuzzFormat(f, "arrow") }

func FuzzParquet(f *testing.F) { fuzzFormat(f, "parquet") }

func fuzzFormat(f *testing.F, format string) {
	for _, seed := range formatSeeds(f, format) {
		f.Add(seed)
	}
	for number := range 40 { // files that are refused for many reasons
		f.Add(mutated(formatSeeds(f, format), number))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > 64<<10 {
			return
		}
		path := datasettest.WriteFile(t, "t."+format, string(file))
		if outcome, problem := attackFile(path, file); outcome == "inconsistent" {
			t.Error(problem)
		}
	})
}

func compareFields(t *testing.T, path, text string) {
	sample, err := ReadSample(Files(path), Format{Delimiter: ',', Header: delimited.HeaderNo}, 1<<30)
	var input *dataset.InputError
	if err != nil && !errors.As(err, &input) {
		t.Fatalf("got error %v of type %T, want *dataset.InputError", err, err)
	}
	// A byte order mark is no part of the table, but text for encoding/csv.
	oracle := csv.NewReader(strings.NewReader(utf8Lines(strings.TrimPrefix(text, delimited.ByteOrderMark))))
	oracle.FieldsPerRecord = 0 // as many as in the first record
	var want [][]string
	for {
		record, oracleErr := oracle.Read()
		if oracleErr == io.EOF {
			break
		}
		if errors.Is(oracleErr, csv.ErrFieldCount) && err == nil {
			t.Fatalf("got no error, but encoding/csv returns %v", oracleErr)
		}
		if oracleErr != nil {
			return // encoding/csv is stricter about quotes
		}
		for i := range record {
			record[i] = fieldtext.Trim(record[i])
		}
		want = append(want, record)
	}
	if err != nil {
		refused := []string{"the file is empty", "the lines end in a carriage return alone", "this is not text: it contains zero bytes", "this is a kft model"}
		head := []byte(text)
		otherFormat, _ := magic.NotText(head)
		otherFormat += magic.Compression(head) + magic.Columnar(head)
		if len(want) > 0 && !slices.Contains(refused, input.Problem) && !strings.HasPrefix(input.Problem, "this is not the header") && otherFormat == "" {
			t.Fatalf("got error %v, but encoding/csv reads %q", err, want)
		}
		return
	}
	if !slices.EqualFunc(sample.Rows, want, slices.Equal[[]string]) {
		t.Fatalf("got %q, want %q", sample.Rows, want)
	}
}

// utf8Lines returns text with the lines that are not UTF-8 converted from Windows-1252.
func utf8Lines(text string) string {
	var converted strings.Builder
	for line := range strings.SplitAfterSeq(text, "\n") {
		if utf8.ValidString(line) {
			converted.WriteString(line)
			continue
		}
		for _, b := range []byte(line) {
			r := charmap.Windows1252.DecodeByte(b)
			if r == utf8.RuneError { // five bytes have no character there and are controls, as in Latin-1
				r = rune(b)
			}
			converted.WriteRune(r)
		}
	}
	return converted.String()
}

func compareTables(t *testing.T, path string) {
	schema := dataset.Schema{Target: "c2", Modes: datasettest.Modes(t, "c1,c1+c2"), Duplicates: "last"}
	var base *dataset.Table
	var baseErr error
	for i, p := range []pipeline{{threads: 1, block: delimited.BlockSize}, {threads: 3, block: delimited.BlockSize}, {threads: 1, block: 16}, {threads: 3, block: 5}} {
		p.source, p.schema, p.format = Files(path), schema, Format{Delimiter: ',', Header: delimited.HeaderNo}
		table, err := p.readTable(context.Background())
		if i == 0 {
			base, baseErr = table, err
			continue
		}
		if (err == nil) != (baseErr == nil) || err != nil && err.Error() != baseErr.Error() {
			t.Fatalf("%d threads, blocks of %d: got error %v, with one thread %v", p.threads, p.block, err, baseErr)
		}
		if err == nil && !slices.Equal(cells(table), cells(base)) {
			t.Fatalf("%d threads, blocks of %d: got %q, with one thread %q", p.threads, p.block, cells(table), cells(base))
		}
	}
}
