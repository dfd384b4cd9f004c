package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// describeRows appends each line with its row number, codes and value.
func describeRows(b *Batch, dst []byte) ([]byte, error) {
	for i := range b.Len() {
		dst = append(dst, b.Line(i)...)
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
		dst = append(dst, b.LineEnd()...)
	}
	return dst, nil
}

func addColumns(header []byte, delimiter byte) []byte {
	if header == nil {
		return nil
	}
	return append(append(bytes.Clone(header), delimiter), "more"...)
}

func TestMap(t *testing.T) {
	dicts := []*Dict{NewDict([]string{"a", "b", "with, comma"}), NewDict([]string{"2015-1", "2015-2"}), NewDict([]string{"1", "23"})}
	schema := Schema{Modes: modes(t, "id,time=year+month,hour(at)")}
	valued := schema
	valued.Target, valued.Weight = "y", "w"
	for _, tc := range []struct {
		name       string
		schema     Schema
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
			"a byte order mark stays", schema,
			"\ufeffid,year,month,at\na,2015,1,2015-01-01 01:00\n",
			"\ufeffid,year,month,at,more\na,2015,1,2015-01-01 01:00,0,0,0,0,NaN\n",
		},
		{
			"quotes stay, target and weight are not asked for", schema,
			"month,id,year,at,\"a \"\"note\"\"\"\n1,\"with, comma\",2015,1422745200,\"two\nlines\"\n\n2,\"b\",2015,1422745200,\n",
			"month,id,year,at,\"a \"\"note\"\"\",more\n" +
				"1,\"with, comma\",2015,1422745200,\"two\nlines\",0,2,0,1,NaN\n" +
				"2,\"b\",2015,1422745200,,1,1,1,1,NaN\n",
		},
		{"header only", schema, "id,year,month,at\n", "id,year,month,at,more\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := writeFile(t, "t.csv", tc.text)
			for _, threads := range []int{1, 3} {
				for _, block := range []int{10, blockSize} {
					var out bytes.Buffer
					p := pipeline{files: []string{path}, schema: tc.schema, threads: threads, block: block}
					if err := p.stream(context.Background(), dicts, &out, addColumns, describeRows); err != nil {
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

func TestMapFromStandardInput(t *testing.T) {
	var out bytes.Buffer
	p := pipeline{files: []string{"-"}, stdin: strings.NewReader("a\t1\nb\t2\n"), schema: Schema{Modes: modes(t, "c1")}, threads: 2, block: 4}
	if err := p.stream(context.Background(), []*Dict{NewDict([]string{"b"})}, &out, addColumns, describeRows); err != nil {
		t.Fatal(err)
	}
	if want := "a\t1,0,-1(a),NaN\nb\t2,1,0,NaN\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	p = pipeline{files: []string{"-"}, stdin: strings.NewReader("id,y\na,x\n"), schema: Schema{Target: "y", Modes: modes(t, "id")}, threads: 2, block: 4}
	if _, err := read(context.Background(), p); err == nil || !strings.HasPrefix(err.Error(), `standard input, line 2, column "y", value "x": `) {
		t.Errorf("error %v", err)
	}
}

func TestMapKeepsOrder(t *testing.T) {
	text := string(BenchmarkText(20_000, 1))
	zipped := filepath.Join(t.TempDir(), "t.csv.gz")
	writeGzip(t, zipped, text)
	table, err := Read(context.Background(), []string{zipped}, iowaSchema, Format{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	p := pipeline{files: []string{zipped}, schema: iowaSchema, threads: 4, block: 1000}
	err = p.stream(context.Background(), table.Dicts, &out, func(header []byte, _ byte) []byte { return header }, func(b *Batch, dst []byte) ([]byte, error) {
		for i := range b.Len() {
			k := b.First + i
			for m := range table.Codes {
				if b.Codes[m][i] != table.Codes[m][k] {
					return nil, fmt.Errorf("row %d has another code", k)
				}
			}
			if b.Y[i] != table.Y[k] {
				return nil, fmt.Errorf("row %d has another value", k)
			}
			dst = append(append(dst, b.Line(i)...), '\n')
		}
		return dst, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != text {
		t.Error("the table does not come out as it went in")
	}
}

func TestMapErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	dicts := []*Dict{NewDict([]string{"a"})}
	pass := func(b *Batch, dst []byte) ([]byte, error) { return dst, nil }
	broken := errors.New("broken pipe")
	for _, tc := range []struct {
		name, text string
		schema     Schema
		w          io.Writer
		work       func(b *Batch, dst []byte) ([]byte, error)
		want       string
	}{
		{"target missing though it must be there", "id\na\n", Schema{Target: "y"}, io.Discard, pass, `t.csv, column "y": the table has no such column; choose one of id`},
		{"mode missing", "key\na\n", Schema{}, io.Discard, pass, `t.csv, column "id": the table has no such column; choose one of key`},
		{"a column that is added", "id,more\na,1\n", Schema{Absent: []string{"less", "more"}}, io.Discard, pass, `t.csv, column "more": the table has this column already, and it would be added once more; rename it or drop it`},
		{"bad value", "id,y\na,1\nb,z\n", Schema{Target: "y"}, io.Discard, pass, `t.csv, line 3, column "y", value "z": this is not a number; mend it, or leave it empty or write NA where the target is missing`},
		{"bad weight", "id,w\na,1\nb,-1\n", Schema{Weight: "w"}, io.Discard, pass, `t.csv, line 3, column "w", value "-1": the weight is negative; write a weight of 0 or more in every row`},
		{"bad line", "id,y\na,1\nb\n", Schema{}, io.Discard, pass, `t.csv, line 3: the line has 1 field, the table has 2 columns; mend the line, or put a field that holds ',' in quotes`},
		{"bad date", "id,t\na,x\n", Schema{Modes: modes(t, "hour(t)")}, io.Discard, pass, `t.csv, line 2, column "t", value "x": this is not a date or a time, which hour(t) needs; ` + momentRemedy},
		{"work fails", "id\na\n", Schema{}, io.Discard, func(b *Batch, dst []byte) ([]byte, error) { return nil, errors.New("no more") }, "no more"},
		{"output fails", "id\na\n", Schema{}, failingWriter{broken}, pass, "broken pipe"},
	} {
		writeFile(t, mustAbs(t, "t.csv"), tc.text)
		if tc.schema.Modes == nil {
			tc.schema.Modes = modes(t, "id")
		}
		err := Map(context.Background(), "t.csv", tc.schema, dicts, Format{}, 2, tc.w, func(h []byte, _ byte) []byte { return h }, tc.work)
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s: error %v, want %s", tc.name, err, tc.want)
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
