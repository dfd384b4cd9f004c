package tableio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
)

func TestBadInput(t *testing.T) {
	const good = "id,y\na,1\nb,2\n"
	for _, tc := range []struct {
		name, text string
		schema     dataset.Schema // by default target y and mode id
		format     Format
		want       string
	}{
		{name: "empty file", text: "", want: "t.csv: the file is empty; give a table with a header and at least one row"},
		{name: "only white space", text: "\n \n", want: "t.csv: the file is empty; give a table with a header and at least one row"},
		{name: "header only", text: "id,y\n", want: "t.csv: the table has a header but no rows; give at least one row"},
		{name: "too few fields", text: good + "c\n", want: `t.csv, line 4: the line has 1 field, the table has 2 columns; fix the line, or put a field that contains ',' in quotes`},
		{name: "too many fields", text: good + "c,3,4\n", want: `t.csv, line 4: the line has 3 fields, the table has 2 columns; fix the line, or put a field that contains ',' in quotes`},
		{name: "comment between rows", text: good + "# the rest is old\nc,3\n", want: `t.csv, line 4: the line has 1 field, the table has 2 columns; remove lines of comments`},
		{name: "blank line beside a short one", text: "id,x,y\na,1,2\n\na,b\n", want: `t.csv, line 4: the line has 2 fields, the table has 3 columns; fix the line, or put a field that contains ',' in quotes`},
		{name: "a title with empty fields", text: "Report 2024,\n,\nid,y\na,1\nb,2\n", want: `t.csv, line 1: this is not the header, which seems to be in line 3; remove the lines above the header: tail -n +3 FILE`},
		{name: "a title and semicolons", text: "Report 2024\n\nid;y\na;1\nb;2\n", want: `t.csv, line 1: this is not the header, which seems to be in line 3; remove the lines above the header: tail -n +3 FILE`},
		{name: "a title above formatted numbers", text: "Umsatz 2024;;\nErstellt am 03.01.2025;;\n\nFiliale;Monat;Umsatz (€)\nA;01.01.2024;1.583,06 €\nB;01.01.2024;583,06 €\n", want: `t.csv, line 1: this is not the header, which seems to be in line 4; remove the lines above the header: tail -n +4 FILE`},
		{name: "not a number", text: good + "c,12x\n", want: `t.csv, line 4, column "y", value "12x": this is not a number; fix it, or leave it empty or write NA if the target is missing`},
		{name: "only a sign", text: good + "c,-\n", want: `t.csv, line 4, column "y", value "-": this is not a number; fix it, or leave it empty or write NA if the target is missing`},
		{name: "an exponent without digits", text: good + "c,1e\n", want: `t.csv, line 4, column "y", value "1e": this is not a number; fix it, or leave it empty or write NA if the target is missing`},
		{name: "NaN", text: good + "c,NaN\n", want: `t.csv, line 4, column "y", value "NaN": this is NaN, not a number; leave it empty or write NA if the target is missing`},
		{name: "NaN as a weight", text: "id,y,w\na,1,nan\n", schema: dataset.Schema{Weight: "w"}, want: `t.csv, line 2, column "w", value "nan": this is NaN, not a number; write a weight of 0 or more in every row`},
		{name: "infinity", text: good + "c,-Inf\n", want: `t.csv, line 4, column "y", value "-Inf": this number is not finite; fix it, or leave it empty or write NA if the target is missing`},
		{name: "too large for float32", text: good + "c,1e39\n", want: `t.csv, line 4, column "y", value "1e39": this number exceeds the range of 32-bit numbers; fix it, or leave it empty or write NA if the target is missing`},
		{name: "long value", text: good + "c," + strings.Repeat("word ", 20) + "\n", want: `t.csv, line 4, column "y", value "word word word word word word word word ...": this is not a number; fix it, or leave it empty or write NA if the target is missing`},
		{name: "empty id", text: good + " ,3\n", want: `t.csv, line 4, column "id": the id is empty, so the row belongs to no cell; fill it in or remove the row`},
		{name: "empty part of an id", text: "year,month,y\n2015,1,1\n2015,,2\n", schema: dataset.Schema{Modes: datasettest.Modes(t, "time=year+month")}, want: `t.csv, line 3, column "month": the id is empty, so the row belongs to no cell; fill it in or remove the row`},
		{name: "not a date", text: "id,y\n2015-02-29,1\n", schema: dataset.Schema{Modes: datasettest.Modes(t, "month(id)")}, want: `t.csv, line 2, column "id", value "2015-02-29": this is not a date or a time, which month(id) requires; write unix seconds (or milliseconds), 2016-12-31, 2016-12-31 23:59 or 12/31/2016 (month first)`},
		{name: "missing column", text: good, schema: dataset.Schema{Target: "yy"}, want: `t.csv, column "yy": the table has no such column (did you mean "y"?); choose one of id, y`},
		{name: "missing column of a mode", text: good, schema: dataset.Schema{Modes: datasettest.Modes(t, "store")}, want: `t.csv, column "store": the table has no such column; choose one of id, y`},
		{name: "missing column without header", text: "a,1\nb,2\n", want: `t.csv, column "id": the table has no such column; the first row contains a number, so it was read as data and the columns have the names c1 to c2; set data.header to yes, or use those names`},
		{name: "missing column, header set to no", text: good, format: Format{Header: delimited.HeaderNo}, want: `t.csv, column "id": the table has no such column; data.header is no, so the columns have the names c1 to c2; use those names, or set data.header to auto`},
		{name: "column name with a plus", text: "a+b,y\n1,2\n", schema: dataset.Schema{Modes: datasettest.Modes(t, "a+b")}, want: `t.csv, column "a": the table has no such column; in a mode, the column a+b is written in quotes: "a+b"`},
		{name: "carriage returns alone", text: "id,y\ra,1\rb,2\r", want: `t.csv: the lines end in a carriage return alone; save the file with Unix (LF) or Windows (CRLF) line ends: tr '\r' '\n' < FILE`},
		{name: "repeated name", text: "id,y,id\na,1,b\n", want: `t.csv, line 1, column "id": the header contains this column twice; rename one of them`},
		{name: "open quote", text: good + "\"c,3\nd,4\n", want: `t.csv, line 4: a quote is opened here and never closed; close it, and double each quote within quotes ("")`},
		{name: "text after a quote", text: good + "\"c\"d,3\n", want: `t.csv, line 4, value "\"c\"d": text follows a closing quote; close it, and double each quote within quotes ("")`},
		{name: "the line after quoted line ends", text: "id,y\n\"a\n\n\",1\nb,x\n", want: `t.csv, line 5, column "y", value "x": this is not a number; fix it, or leave it empty or write NA if the target is missing`},
		{name: "all targets missing", text: "id,y\na,\nb,NA\n", want: `t.csv, column "y": the target is missing in all 2 rows; choose another column`},
		{name: "negative weight", text: "id,y,w\na,1,1\nb,2,-1\n", schema: dataset.Schema{Weight: "w"}, want: `t.csv, line 3, column "w", value "-1": the weight is negative; write a weight of 0 or more in every row`},
		{name: "missing weight", text: "id,y,w\na,1,1\nb,2,NA\n", schema: dataset.Schema{Weight: "w"}, want: `t.csv, line 3, column "w", value "NA": the weight is missing; write a weight of 0 or more in every row`},
		{name: "infinite weight", text: "id,y,w\na,1,1\nb,2,inf\n", schema: dataset.Schema{Weight: "w"}, want: `t.csv, line 3, column "w", value "inf": this number is not finite; fix it, or write a weight of 0 or more in every row`},
		{name: "no weight above 0", text: "id,y,w\na,1,0\n", schema: dataset.Schema{Weight: "w"}, want: `t.csv, column "w": no row has a target and a weight above 0; choose another column`},
		{name: "unknown part", text: "id,y,p\na,1,train\nb,2,dev\n", schema: dataset.Schema{Part: "p"}, want: `t.csv, line 3, column "p", value "dev": this is not a part; write train, valid, test or unused`},
		{name: "duplicate", text: good + "c,3\na,4\nb,5\n", want: `t.csv, line 5: cell id=a already occurs on line 2 (2 repeated rows in total); set data.duplicates to sum, mean, last or keep`},
		{name: "duplicate in different parts", text: "id,y,p\na,1,train\na,2,test\n", schema: dataset.Schema{Part: "p", Duplicates: "sum"}, want: `t.csv, line 3, value "test": cell id=a is in part train on line 2, so its rows cannot be merged; give all rows of a cell the same part, or set data.duplicates to keep, which does not merge them`},
		{name: "sum too large", text: "id,y\na,3e38\na,3e38\n", schema: dataset.Schema{Duplicates: "sum"}, want: `t.csv, line 2: the sum over the repeated rows of cell id=a exceeds the range of float32; scale the values, or set data.duplicates to last`},
		{name: "the first of several errors", text: "id,y\na,1\nb,x\n,2\nc\n", want: `t.csv, line 3, column "y", value "x": this is not a number; fix it, or leave it empty or write NA if the target is missing`},
		{name: "many empty ids", text: good + " ,3\n,4\n", want: `t.csv, line 4, column "id": the id is empty here and in other rows, 2 of 4 (50 %), which belong to no cell; fill the ids in, remove these rows, or do not use the column as a mode`},
		{name: "an empty id before an error", text: "id,y\na,1\n,2\nb,x\nc\n", want: `t.csv, line 4, column "y", value "x": this is not a number; fix it, or leave it empty or write NA if the target is missing`},
		{name: "Parquet", text: "PAR1\x15\x04\x15", want: "t.csv: the Parquet file ends too early: it is truncated; copy or write it again"},
		{name: "UTF-16", text: "\xff\xfei\x00d\x00", want: "t.csv: this is UTF-16 text, which is not supported; convert it: iconv -f UTF-16 -t UTF-8 FILE, or save it as CSV in UTF-8"},
		{name: "model", text: "\xb8\x88\x00\x00\x00\x00\x00\x00{\"__metadata__\":{\"format\":\"kft\",", want: "t.csv: this is a kft model, not a table; give CSV or TSV (plain, gzip or zstd), Parquet or Arrow"},
		{name: "binary", text: "a\x00b", want: "t.csv: this is not text: it contains zero bytes; give CSV or TSV (plain, gzip or zstd), Parquet or Arrow"},
		{name: "damaged gzip header", text: "\x1f\x8b\x00\x00\x00\x00\x00\x00\x00\x00\x00", want: "t.csv: the gzip data is damaged; copy or download it again"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.WriteFile("t.csv", []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if tc.schema.Target == "" {
				tc.schema.Target = "y"
			}
			if tc.schema.Modes == nil {
				tc.schema.Modes = datasettest.Modes(t, "id")
			}
			for _, threads := range []int{1, 8} {
				for _, block := range []int{8, delimited.BlockSize} {
					_, err := (&pipeline{source: Files("t.csv"), schema: tc.schema, format: tc.format, threads: threads, block: block}).readTable(context.Background())
					var input *dataset.InputError
					if !errors.As(err, &input) || err.Error() != tc.want {
						t.Fatalf("%d threads, blocks of %d: got error\n%v\nwant\n%s", threads, block, err, tc.want)
					}
				}
			}
		})
	}
}

func TestFirstErrorAcrossBlocks(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("id,y\n")
	for i := range 2000 {
		switch i {
		case 1200, 1500, 1999:
			fmt.Fprintf(&text, "%d,bad\n", i)
		default:
			fmt.Fprintf(&text, "%d,%d\n", i, i)
		}
	}
	path := datasettest.WriteFile(t, "t.csv", text.String())
	for range 20 {
		_, err := (&pipeline{source: Files(path), schema: dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id")}, threads: 8, block: 64}).readTable(context.Background())
		var input *dataset.InputError
		if !errors.As(err, &input) || input.Line != 1202 || input.Value != "bad" {
			t.Fatalf("got error %v, want one in line 1202", err)
		}
	}
}

func TestTruncatedGzip(t *testing.T) {
	t.Chdir(t.TempDir())
	datasettest.WriteGzip(t, "t.csv.gz", string(datasettest.SalesText(50_000, 1)))
	whole, err := os.ReadFile("t.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, keep := range []int{2, 5, 10, 1000, len(whole) / 2, len(whole) - 4} {
		if err := os.WriteFile("t.csv.gz", whole[:keep], 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Read(context.Background(), Files("t.csv.gz"), salesSchema, Format{}, 2)
		var input *dataset.InputError
		if !errors.As(err, &input) || !errors.Is(err, io.ErrUnexpectedEOF) || input.File != "t.csv.gz" ||
			input.Problem != "the gzip data ends too early: the file is truncated" {
			t.Errorf("%d bytes of %d: got error %v", keep, len(whole), err)
		} else if keep > len(whole)/3 && input.Line < 1000 {
			t.Errorf("%d bytes of %d: line %d", keep, len(whole), input.Line)
		}
	}
	damaged := bytes.Clone(whole)
	clear(damaged[len(whole)/2:][:100])
	if err := os.WriteFile("t.csv.gz", damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	var input *dataset.InputError
	if _, err = Read(context.Background(), Files("t.csv.gz"), salesSchema, Format{}, 2); !errors.As(err, &input) {
		t.Errorf("damaged in the middle: got error %v, want an *InputError", err)
	}
	whole[len(whole)-5] ^= 1 // the checksum
	if err := os.WriteFile("t.csv.gz", whole, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Read(context.Background(), Files("t.csv.gz"), salesSchema, Format{}, 2)
	if err == nil || !strings.Contains(err.Error(), "the gzip checksum is wrong: the file is damaged; copy or download it again") {
		t.Errorf("wrong checksum: got error %v", err)
	}
}

func TestBadCalls(t *testing.T) {
	path := datasettest.WriteFile(t, "t.csv", "id,y\na,1\n")
	for _, tc := range []struct {
		files  []string
		schema dataset.Schema
		want   string
	}{
		{[]string{path}, dataset.Schema{Modes: datasettest.Modes(t, "id")}, "there is no target; name the column of the values to learn"},
		{[]string{path}, dataset.Schema{Target: "y"}, "there are no modes; name the columns of ids, as in store,item,time=year+month"},
		{nil, dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id")}, "there is no table; name a file, or - for standard input"},
		{[]string{path}, dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id"), Duplicates: "mena"}, `unknown rule for duplicates "mena" (did you mean "mean"?); the rules are error, sum, mean, last, keep`},
		{[]string{os.TempDir()}, dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id")}, os.TempDir() + ": this is a directory; name the files in it"},
		{[]string{"no/such.csv"}, dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id")}, "no/such.csv: no such file; check the path"},
	} {
		_, err := Read(context.Background(), Files(tc.files...), tc.schema, Format{}, 1)
		if err == nil || err.Error() != tc.want {
			t.Errorf("got error %v, want %s", err, tc.want)
		}
	}
}
