package tableio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
)

// describeRows appends each line with its row number, codes and value.
func describeRows(b *Batch, dst []byte) ([]byte, error) {
	for i := range b.Len() {
		dst = append(dst, b.line(i)...)
		dst = fmt.Appendf(dst, ",%d", b.First+i)
		for m, codes := range b.Codes {
			dst = fmt.Appendf(dst, ",%d", codes[i])
			if codes[i] < 0 {
				dst = fmt.Appendf(dst, "(%s)", b.ID(m, i))
			}
		}
		dst = fmt.Appendf(dst, ",%g", b.Y[i])
		if b.W != nil {
			dst = fmt.Appendf(dst, ",w%g", b.W[i])
		}
		dst = append(dst, b.table.LineEnd...)
	}
	return dst, nil
}

func addColumns(header []byte, delimiter byte) []byte {
	if header == nil {
		return nil
	}
	return append(append(bytes.Clone(header), delimiter), "more"...)
}

// rewriteFile streams a file through work, see pipeline.rewrite.
func rewriteFile(path string, schema dataset.Schema, dicts []*dataset.Dict, threads int, w io.Writer,
	head func(header []byte, delimiter byte) []byte, work func(b *Batch, dst []byte) ([]byte, error)) error {
	p := pipeline{source: Files(path), schema: schema, threads: threads, allColumns: true}
	return p.rewrite(context.Background(), dicts, w, head, work)
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	dicts := []*dataset.Dict{dataset.NewDict([]string{"a", "b", "with, comma"}), dataset.NewDict([]string{"2015-1", "2015-2"}), dataset.NewDict([]string{"1", "23"})}
	schema := dataset.Schema{Modes: datasettest.Modes(t, "id,time=year+month,hour(at)")}
	valued := schema
	valued.Target, valued.Weight = "y", "w"
	for _, tc := range []struct {
		name       string
		schema     dataset.Schema
		text, want string
	}{
		{
			"known and unknown ids, missing values", valued,
			"id,year,month,at,y,w\r\na,2015,1,2015-01-01 01:00,1,1\r\nc,2015,2,2015-01-01 02:00,,0\r\n,2015,3,,NA,2",
			"id,year,month,at,y,w,more\r\n" +
				"a,2015,1,2015-01-01 01:00,1,1,0,0,0,0,1,w1\r\n" +
				"c,2015,2,2015-01-01 02:00,,0,1,-1(c),1,-1(2),NaN,w0\r\n" +
				",2015,3,,NA,2,2,-1(),-1(2015-3),-1(),NaN,w2\r\n",
		},
		{
			"a byte order mark is kept", schema,
			"\ufeffid,year,month,at\na,2015,1,2015-01-01 01:00\n",
			"\ufeffid,year,month,at,more\na,2015,1,2015-01-01 01:00,0,0,0,0,NaN\n",
		},
		{
			"quotes are kept, no target and no weight", schema,
			"month,id,year,at,\"a \"\"note\"\"\"\n1,\"with, comma\",2015,1422745200,\"two\nlines\"\n\n2,\"b\",2015,1422745200,\n",
			"month,id,year,at,\"a \"\"note\"\"\",more\n" +
				"1,\"with, comma\",2015,1422745200,\"two\nlines\",0,2,0,1,NaN\n" +
				"2,\"b\",2015,1422745200,,1,1,1,1,NaN\n",
		},
		{"header only", schema, "id,year,month,at\n", "id,year,month,at,more\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := datasettest.WriteFile(t, "t.csv", tc.text)
			for _, threads := range []int{1, 3} {
				for _, block := range []int{10, delimited.BlockSize} {
					var out bytes.Buffer
					p := pipeline{source: Files(path), schema: tc.schema, threads: threads, block: block}
					if err := p.rewrite(context.Background(), dicts, &out, addColumns, describeRows); err != nil {
						t.Fatal(err)
					}
					if out.String() != tc.want {
						t.Fatalf("%d threads, blocks of %d: got\n%s\nwant\n%s", threads, block, out.String(), tc.want)
					}
				}
			}
		})
	}
}

func TestStandardInput(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := pipeline{source: Files("-"), format: Format{Stdin: strings.NewReader("a\t1\nb\t2\n")}, schema: dataset.Schema{Modes: datasettest.Modes(t, "c1")}, threads: 2, block: 4}
	if err := p.rewrite(context.Background(), []*dataset.Dict{dataset.NewDict([]string{"b"})}, &out, addColumns, describeRows); err != nil {
		t.Fatal(err)
	}
	if want := "a\t1,0,-1(a),NaN\nb\t2,1,0,NaN\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	p = pipeline{source: Files("-"), format: Format{Stdin: strings.NewReader("id,y\na,x\n")}, schema: dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id")}, threads: 2, block: 4}
	if _, err := p.readTable(context.Background()); err == nil || !strings.HasPrefix(err.Error(), `standard input, line 2, column "y", value "x": `) {
		t.Errorf("got error %v", err)
	}
}

func TestRewriteKeepsOrder(t *testing.T) {
	t.Parallel()
	text := string(datasettest.SalesText(20_000, 1))
	zipped := filepath.Join(t.TempDir(), "t.csv.gz")
	datasettest.WriteGzip(t, zipped, text)
	table, err := Read(context.Background(), Files(zipped), salesSchema, Format{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	p := pipeline{source: Files(zipped), schema: salesSchema, threads: 4, block: 1000}
	err = p.rewrite(context.Background(), table.Dicts, &out, func(header []byte, _ byte) []byte { return header }, func(b *Batch, dst []byte) ([]byte, error) {
		for i := range b.Len() {
			k := b.First + i
			for m := range table.Codes {
				if b.Codes[m][i] != table.Codes[m][k] {
					return nil, fmt.Errorf("row %d: the codes differ", k)
				}
			}
			if b.Y[i] != table.Y[k] {
				return nil, fmt.Errorf("row %d: the values differ", k)
			}
			dst = append(append(dst, b.line(i)...), '\n')
		}
		return dst, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != text {
		t.Error("the output differs from the input")
	}
}

func TestRewriteErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	dicts := []*dataset.Dict{dataset.NewDict([]string{"a"})}
	pass := func(b *Batch, dst []byte) ([]byte, error) { return dst, nil }
	broken := errors.New("broken pipe")
	for _, tc := range []struct {
		name, text string
		schema     dataset.Schema
		w          io.Writer
		work       func(b *Batch, dst []byte) ([]byte, error)
		want       string
	}{
		{"missing target column", "id\na\n", dataset.Schema{Target: "y"}, io.Discard, pass, `t.csv, column "y": the table has no such column; choose one of id`},
		{"missing mode column", "key\na\n", dataset.Schema{}, io.Discard, pass, `t.csv, column "id": the table has no such column; choose one of key`},
		{"existing column that is added", "id,more\na,1\n", dataset.Schema{Absent: []string{"less", "more"}}, io.Discard, pass, `t.csv, column "more": the table already has this column, and the output would contain it twice; rename it or drop it`},
		{"bad value", "id,y\na,1\nb,z\n", dataset.Schema{Target: "y"}, io.Discard, pass, `t.csv, line 3, column "y", value "z": this is not a number; fix it, or leave it empty or write NA if the target is missing`},
		{"bad weight", "id,w\na,1\nb,-1\n", dataset.Schema{Weight: "w"}, io.Discard, pass, `t.csv, line 3, column "w", value "-1": the weight is negative; write a weight of 0 or more in every row`},
		{"bad line", "id,y\na,1\nb\n", dataset.Schema{}, io.Discard, pass, `t.csv, line 3: the line has 1 field, the table has 2 columns; fix the line, or put a field that contains ',' in quotes`},
		{"bad date", "id,t\na,x\n", dataset.Schema{Modes: datasettest.Modes(t, "hour(t)")}, io.Discard, pass, `t.csv, line 2, column "t", value "x": this is not a date or a time, which hour(t) requires; ` + calendar.Remedy},
		{"work fails", "id\na\n", dataset.Schema{}, io.Discard, func(b *Batch, dst []byte) ([]byte, error) { return nil, errors.New("no more") }, "no more"},
		{"output fails", "id\na\n", dataset.Schema{}, failingWriter{broken}, pass, "broken pipe"},
	} {
		datasettest.WriteFile(t, mustAbs(t, "t.csv"), tc.text)
		if tc.schema.Modes == nil {
			tc.schema.Modes = datasettest.Modes(t, "id")
		}
		err := rewriteFile("t.csv", tc.schema, dicts, 2, tc.w, func(h []byte, _ byte) []byte { return h }, tc.work)
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s: got error %v, want %s", tc.name, err, tc.want)
		}
	}
}

func mustAbs(t *testing.T, path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }
