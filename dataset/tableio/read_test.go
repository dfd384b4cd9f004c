package tableio

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
)

// cells returns a table as text: ids, value, weight, part, row.
func cells(t *dataset.Table) []string {
	var out []string
	for k := range t.Y {
		var line strings.Builder
		for m := range t.Modes {
			fmt.Fprintf(&line, "%s:%d ", t.Dicts[m].ID(t.Codes[m][k]), t.Codes[m][k])
		}
		fmt.Fprintf(&line, "%g", t.Y[k])
		if t.W != nil {
			fmt.Fprintf(&line, " w%g", t.W[k])
		}
		if t.Part != nil {
			fmt.Fprintf(&line, " %v", t.Part[k])
		}
		if t.Row != nil {
			fmt.Fprintf(&line, " row%d", t.Row[k])
		}
		out = append(out, line.String())
	}
	return out
}

func TestRead(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		schema     dataset.Schema
		format     Format
		want       []string
		counts     dataset.Counts
	}{
		{
			name:   "ids are kept as written",
			text:   "id,y\nx904631,1\n007,2\n7,3\n x904632 ,4\nlonger than eight bytes,5\n",
			schema: dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id")},
			want:   []string{"x904631:0 1", "007:1 2", "7:2 3", "x904632:3 4", "longer than eight bytes:4 5"},
			counts: dataset.Counts{Rows: 5},
		},
		{
			name:   "byte order mark, CRLF, no last line end",
			text:   "\xef\xbb\xbfid,y\r\na,1\r\nb,-2.5",
			schema: dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id")},
			want:   []string{"a:0 1", "b:1 -2.5"},
			counts: dataset.Counts{Rows: 2},
		},
		{
			name:   "CRLF after an id, and one line with another end",
			text:   "y,id\r\n1,a\r\n2,b\n3,c\r\n4,a\r\n",
			schema: dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id"), Duplicates: "last"},
			want:   []string{"a:0 4 row0", "b:1 2 row1", "c:2 3 row2"},
			counts: dataset.Counts{Rows: 4, Merged: 1},
		},
		{
			name:   "quotes",
			text:   "id,y\n\"a,b\",1\n\"a\"\"b\",2\n\"a\nb\",3\na,4\n\"c\",\"5\"\n5\"x,6\n",
			schema: dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id")},
			want:   []string{"a,b:0 1", "a\"b:1 2", "a\nb:2 3", "a:3 4", "c:4 5", "5\"x:5 6"},
			counts: dataset.Counts{Rows: 6},
		},
		{
			name:   "blank lines are skipped",
			text:   "\nid,y\n\na,1\n\r\nb,2\n\n",
			schema: dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id")},
			want:   []string{"a:0 1", "b:1 2"},
			counts: dataset.Counts{Rows: 2},
		},
		{
			name:   "missing targets and zero weights are dropped, with the ids that occur only there",
			text:   "id,y,w\na,NA,1\nb,1,1\nc,,1\nd,null,1\ne,N/A,1\nf,2,0\ng,3,2\n",
			schema: dataset.Schema{Target: "y", Weight: "w", Modes: datasettest.Modes(t, "id")},
			want:   []string{"b:0 1 w1 row1", "g:1 3 w2 row6"},
			counts: dataset.Counts{Rows: 7, Missing: 4, ZeroWeight: 1},
		},
		{
			name:   "joined columns, adjacent or not, and a function",
			text:   "year,month,id,day,when\n2016,12,a,1,2016-12-24T18:30\n2016,1,b,2,1260759144\n2016,12,b,1,12/31/2016 23:00\n",
			schema: dataset.Schema{Target: "day", Modes: datasettest.Modes(t, "time=year+month,id+year,hour(when),date(when)")},
			want:   []string{"2016-12:0 a-2016:0 18:0 2016-12-24:0 1", "2016-1:1 b-2016:1 2:1 2009-12-14:1 2", "2016-12:0 b-2016:1 23:2 2016-12-31:2 1"},
			counts: dataset.Counts{Rows: 3},
		},
		{
			name:   "joined columns in quotes are distinguished",
			text:   "a,b,y\n\"1,2\",3,1\n1,\"2,3\",2\n",
			schema: dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "a+b")},
			want:   []string{"1,2-3:0 1", "1-2,3:1 2"},
			counts: dataset.Counts{Rows: 2},
		},
		{
			name:   "numbers",
			text:   "id;y\na;1e3\nb;+3\nc;-0.1\nd;.5\ne;123456789\nf;0.000001\n",
			schema: dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id")},
			want:   []string{"a:0 1000", "b:1 3", "c:2 -0.1", "d:3 0.5", "e:4 1.2345679e+08", "f:5 1e-06"},
			counts: dataset.Counts{Rows: 6},
		},
		{
			name:   "no header",
			text:   "a\t1\nb\t2\n",
			schema: dataset.Schema{Target: "c2", Modes: datasettest.Modes(t, "c1")},
			want:   []string{"a:0 1", "b:1 2"},
			counts: dataset.Counts{Rows: 2},
		},
		{
			name:   "a header with a number, because it contains the wanted names",
			text:   "id|2015\na|1\n",
			schema: dataset.Schema{Target: "2015", Modes: datasettest.Modes(t, "id")},
			want:   []string{"a:0 1"},
			counts: dataset.Counts{Rows: 1},
		},
		{
			name:   "parts",
			text:   "id,y,part\na,1,train\nb,2,validation\nc,3,test\nd,4,unused\ne,5,valid\n",
			schema: dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id"), Part: "part"},
			want:   []string{"a:0 1 train", "b:1 2 valid", "c:2 3 test", "d:3 4 unused", "e:4 5 valid"},
			counts: dataset.Counts{Rows: 5},
		},
		{
			name:   "duplicates: sum",
			text:   "id,y,w\na,1,1\nb,2,2\na,3,3\nc,4,4\na,5,1\n",
			schema: dataset.Schema{Target: "y", Weight: "w", Modes: datasettest.Modes(t, "id"), Duplicates: "sum"},
			want:   []string{"a:0 9 w5 row0", "b:1 2 w2 row1", "c:2 4 w4 row3"},
			counts: dataset.Counts{Rows: 5, Merged: 2},
		},
		{
			name:   "duplicates: mean",
			text:   "id,y,w\na,1,1\nb,2,2\na,3,3\n",
			schema: dataset.Schema{Target: "y", Weight: "w", Modes: datasettest.Modes(t, "id"), Duplicates: "mean"},
			want:   []string{"a:0 2.5 w4 row0", "b:1 2 w2 row1"},
			counts: dataset.Counts{Rows: 3, Merged: 1},
		},
		{
			name:   "duplicates: last",
			text:   "id,y,w\na,1,1\nb,2,2\na,3,3\nb,,4\n",
			schema: dataset.Schema{Target: "y", Weight: "w", Modes: datasettest.Modes(t, "id"), Duplicates: "last"},
			want:   []string{"a:0 3 w3 row0", "b:1 2 w2 row1"},
			counts: dataset.Counts{Rows: 4, Missing: 1, Merged: 1},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			table, err := Read(context.Background(), Files(datasettest.WriteFile(t, "t.csv", tc.text)), tc.schema, tc.format, 2)
			if err != nil {
				t.Fatal(err)
			}
			if got := cells(table); !slices.Equal(got, tc.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
			}
			if table.Counts != tc.counts {
				t.Errorf("got counts %+v, want %+v", table.Counts, tc.counts)
			}
		})
	}
}

func TestReadFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := datasettest.WriteFile(t, filepath.Join(dir, "1.csv"), "id,y\na,1\nb,2\n")
	second := filepath.Join(dir, "2.csv.gz")
	datasettest.WriteGzip(t, second, "y;more;id\n3;x;c\n4;x;a\n")
	schema := dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id"), Duplicates: "sum"}
	table, err := Read(context.Background(), Files(first, second), schema, Format{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := cells(table), []string{"a:0 5 row0", "b:1 2 row1", "c:2 3 row2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	schema.Duplicates = ""
	_, err = Read(context.Background(), Files(first, second), schema, Format{}, 2)
	want := second + ", line 3: cell id=a already occurs on line 2 of " + first + " (1 repeated row in total); set data.duplicates to sum, mean, last or keep"
	if err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

// mixedText returns a table with some quotes, blank lines and missing targets, so that
// both the fast and the slow path are taken.
func mixedText(rows int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	b.WriteString("store,year,month,item,sold,when\n")
	for i := range rows {
		store := fmt.Sprint(r.IntN(50))
		if r.IntN(200) == 0 {
			store = fmt.Sprintf("\"shop, number %s\"", store)
		}
		sold := fmt.Sprint(r.IntN(1000))
		switch r.IntN(20) {
		case 0:
			sold = ""
		case 1:
			sold = fmt.Sprintf("%.3f", r.Float64()*100)
		}
		fmt.Fprintf(&b, "%s,%d,%d,x%d,%s,%d\n", store, 2015+r.IntN(2), 1+r.IntN(12), i, sold, 1_400_000_000+r.IntN(1<<26))
		if r.IntN(300) == 0 {
			b.WriteString("\n")
		}
	}
	return b.String()
}

func TestReadDoesNotDependOnThreadsAndBlocks(t *testing.T) {
	t.Parallel()
	path := datasettest.WriteFile(t, "t.csv", mixedText(5000, 1))
	zipped := filepath.Join(t.TempDir(), "t.csv.gz")
	datasettest.WriteGzip(t, zipped, mixedText(5000, 1))
	schema := dataset.Schema{Target: "sold", Modes: datasettest.Modes(t, "store,item,time=year+month,hour(when)")}
	base, err := Read(context.Background(), Files(path), schema, Format{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if base.Counts.Rows != 5000 || base.Counts.Missing == 0 {
		t.Fatalf("got counts %+v, want 5000 rows and some missing targets", base.Counts)
	}
	for _, threads := range []int{1, 2, 8} {
		for _, block := range []int{100, 1000, 4096, 1 << 20, delimited.BlockSize} {
			for _, file := range []string{path, zipped} {
				got, err := (&pipeline{source: Files(file), schema: schema, threads: threads, block: block}).readTable(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if block != delimited.BlockSize {
					got.Hash = base.Hash // it depends on the borders of blocks
				}
				for m := range got.Dicts {
					if !slices.Equal(got.Dicts[m].IDs(), base.Dicts[m].IDs()) {
						t.Fatalf("%d threads, blocks of %d: ids of %s differ", threads, block, got.Modes[m])
					}
				}
				got.Dicts = base.Dicts
				if !reflect.DeepEqual(got, base) {
					t.Fatalf("%d threads, blocks of %d: tables differ", threads, block)
				}
			}
		}
	}
}

func TestHash(t *testing.T) {
	t.Parallel()
	schema := dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "id")}
	hash := func(text string) [32]byte {
		table, err := Read(context.Background(), Files(datasettest.WriteFile(t, "t.csv", text)), schema, Format{}, 2)
		if err != nil {
			t.Fatal(err)
		}
		return table.Hash
	}
	base := hash("id,y\na,1\nb,2\n")
	if hash("id,y\na,1\nb,2") != base {
		t.Error("a missing last line end changes the hash")
	}
	for _, other := range []string{"id,y\na,1\nb,3\n", "id,y\nb,2\na,1\n", "id,y\na,1\n", "y,id\n1,a\n2,b\n"} {
		if hash(other) == base {
			t.Errorf("%q has the hash of another table", other)
		}
	}
}

// A table takes 4 bytes per mode and 4 for the value. Nothing else grows with the
// number of rows.
func TestTableMemory(t *testing.T) {
	t.Parallel()
	path := datasettest.WriteFile(t, "t.csv", string(datasettest.SalesText(20_000, 1)))
	table, err := Read(context.Background(), Files(path), salesSchema, Format{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	bytes := 4 * (cap(table.Y) + cap(table.W) + cap(table.Row))
	for _, codes := range table.Codes {
		bytes += 4 * cap(codes)
	}
	bytes += cap(table.Part)
	if want := 16 * 20_000; bytes != want {
		t.Errorf("got %d bytes for 20,000 observations of three modes, want %d", bytes, want)
	}
}

func TestReadCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	path := datasettest.WriteFile(t, "t.csv", string(datasettest.SalesText(1000, 1)))
	if _, err := Read(ctx, Files(path), salesSchema, Format{}, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
}

func TestDuplicatesInUnsortedTables(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 0))
	for _, size := range []int{30, 100_000} { // small enough for a bitmap, and too large for one
		seen := map[[2]int]float32{}
		var order [][2]int
		var text strings.Builder
		text.WriteString("a,b,y\n")
		for i := range 40_000 {
			cell := [2]int{r.IntN(size), r.IntN(20000)}
			if r.IntN(50) == 0 && len(order) > 0 {
				cell = order[r.IntN(len(order))]
			}
			if _, ok := seen[cell]; !ok {
				order = append(order, cell)
			}
			seen[cell] += float32(i % 7)
			fmt.Fprintf(&text, "%d,%d,%d\n", cell[0], cell[1], i%7)
		}
		table, err := Read(context.Background(), Files(datasettest.WriteFile(t, "t.csv", text.String())),
			dataset.Schema{Target: "y", Modes: datasettest.Modes(t, "a,b"), Duplicates: "sum"}, Format{}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if table.Len() != len(order) || table.Counts.Merged != 40_000-len(order) {
			t.Fatalf("got %d cells and %d merged rows, want %d cells", table.Len(), table.Counts.Merged, len(order))
		}
		for k, cell := range order {
			a, b := table.Dicts[0].ID(table.Codes[0][k]), table.Dicts[1].ID(table.Codes[1][k])
			if a != fmt.Sprint(cell[0]) || b != fmt.Sprint(cell[1]) || math.Abs(float64(table.Y[k]-seen[cell])) > 0 {
				t.Fatalf("cell %d is %s,%s = %g, want %v = %g", k, a, b, table.Y[k], cell, seen[cell])
			}
		}
	}
}
