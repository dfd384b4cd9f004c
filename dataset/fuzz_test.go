package dataset

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FuzzRead compares fields with those of encoding/csv, and tables with each other
// for several numbers of threads and sizes of blocks.
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
		"\r,\r\n\x00,\x00\n",
		strings.Repeat("abc,12\n", 40) + "\"q\",1\n" + strings.Repeat("abcdefghi,12\n", 40),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return // blocks of a few bytes take their time
		}
		path := filepath.Join(t.TempDir(), "t.csv")
		writeFile(t, path, text)
		compareFields(t, path, text)
		compareTables(t, path)
	})
}

func compareFields(t *testing.T, path, text string) {
	format := Format{Delimiter: ',', Header: HeaderNo}
	_, got, _, err := sampleRows(path, format, 1<<30)
	var input *InputError
	if err != nil && !errors.As(err, &input) {
		t.Fatalf("error %v is of another type", err)
	}
	oracle := csv.NewReader(strings.NewReader(text))
	oracle.FieldsPerRecord = 0 // as many as in the first
	var want [][]string
	for {
		record, oracleErr := oracle.Read()
		if oracleErr == io.EOF {
			break
		}
		if errors.Is(oracleErr, csv.ErrFieldCount) && err == nil {
			t.Fatalf("no error where encoding/csv says %v", oracleErr)
		}
		if oracleErr != nil {
			return // stricter on quotes
		}
		for i := range record {
			record[i] = string(trim([]byte(record[i])))
		}
		want = append(want, record)
	}
	if err != nil {
		if len(want) > 0 && input.Problem != "the file is empty" && notText([]byte(text)) == "" && !bytes.HasPrefix([]byte(text), []byte{0x1f, 0x8b}) {
			t.Fatalf("error %v where encoding/csv reads %q", err, want)
		}
		return
	}
	if strings.HasPrefix(text, "\xef\xbb\xbf") {
		return // a mark for us, text for encoding/csv
	}
	if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func compareTables(t *testing.T, path string) {
	schema := Schema{Target: "c2", Modes: modes(t, "c1,c1+c2"), Duplicates: "last"}
	var base *Table
	var baseErr error
	for i, p := range []pipeline{{threads: 1, block: blockSize}, {threads: 3, block: blockSize}, {threads: 1, block: 16}, {threads: 3, block: 5}} {
		p.files, p.schema, p.format = []string{path}, schema, Format{Delimiter: ',', Header: HeaderNo}
		table, err := read(context.Background(), p)
		if i == 0 {
			base, baseErr = table, err
			continue
		}
		if (err == nil) != (baseErr == nil) || err != nil && err.Error() != baseErr.Error() {
			t.Fatalf("%d threads, blocks of %d: error %v, else %v", p.threads, p.block, err, baseErr)
		}
		if err == nil && !slices.Equal(cells(table), cells(base)) {
			t.Fatalf("%d threads, blocks of %d: got %q, else %q", p.threads, p.block, cells(table), cells(base))
		}
	}
}

// Whatever the text, the fast kernels find what the portable ones find.
func FuzzKernels(f *testing.F) {
	f.Add([]byte("2015,1,2106,10550,72\r\n2015,1,2106,10553,12\r\n2015,1,2106,10626, 12\r\n"), byte(','))
	f.Add([]byte(",,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n"), byte(','))
	f.Add([]byte("no separator at all, in a text of more than sixty-four bytes, at least none of this kind"), byte(';'))
	f.Add(bytes.Repeat([]byte("12345678;123456789;1;\n"), 20), byte(';'))
	f.Fuzz(func(t *testing.T, text []byte, delimiter byte) {
		if !isDelimiter(delimiter) || bytes.IndexByte(text, 0) >= 0 {
			return
		}
		padded := append(slices.Clone(text), make([]byte, padding)...)
		text = padded[:len(text)]
		fast, slow := make([]uint32, len(text)+2*padding), make([]uint32, len(text)+2*padding)
		n, lines := separators(fast[1:], text, delimiter)
		want, wantLines := separatorsGeneric(slow[1:], text, delimiter)
		if n != want || lines != wantLines || lines != bytes.Count(text, newline) || !slices.Equal(fast[1:n+1], slow[1:n+1]) {
			t.Fatalf("%v, want %v", fast[1:n+1], slow[1:want+1])
		}
		naive := 0
		for _, c := range text {
			if c == delimiter || c == '\n' {
				naive++
			}
		}
		if n != naive {
			t.Fatalf("%d separators of %d", n, naive)
		}
		ends := fast[:n+1]
		ends[0] = ^uint32(0)
		for columns := 1; columns <= min(n, 4); columns++ {
			var keep []int32
			for row := 0; row < n/columns; row += 1 + row%3 {
				keep = append(keep, int32(row))
			}
			for from := range columns {
				for to := from + 1; to <= columns; to++ {
					for cut := range uint32(2) {
						behind := delimiter
						if cut == 1 {
							behind = '\r'
						}
						fastWords, slowWords := make([]uint64, len(keep)), make([]uint64, len(keep))
						fieldWords(fastWords, padded, ends, keep, columns, from, to, cut, behind)
						fieldWordsGeneric(slowWords, padded, ends, keep, columns, from, to, cut, behind)
						if !slices.Equal(fastWords, slowWords) {
							t.Fatalf("%d columns, %d to %d: %x, want %x", columns, from, to, fastWords, slowWords)
						}
					}
				}
			}
		}
	})
}
