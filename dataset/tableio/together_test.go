package tableio

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// longTable returns a table of a few MB. row changes its rows.
func longTable(row func(i int, text string) string) string {
	var b strings.Builder
	b.WriteString("store,item,month,units,weight,part\n")
	for i := range 90_000 {
		text := fmt.Sprintf("s%d,item-%d-of-many,%d,%d,%d.5,%s", i%83, (i*7919)%4001, i/9000+1, i%17, i%3, []string{"train", "valid", "test", "unused"}[i*i%4])
		b.WriteString(row(i, text) + "\n")
	}
	return b.String()
}

// withTarget replaces the target of a row.
func withTarget(text, target string) string {
	fields := strings.Split(text, ",")
	fields[3] = target
	return strings.Join(fields, ",")
}

// Several processes that read a table together get the table of one.
func TestReadTogether(t *testing.T) {
	t.Parallel()
	plain := longTable(func(_ int, text string) string { return text })
	modes, err := dataset.ParseModes("store,item,time=month")
	if err != nil {
		t.Fatal(err)
	}
	schema := dataset.Schema{Target: "units", Weight: "weight", Part: "part", Modes: modes, Duplicates: "sum"}
	pack := func(text string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(text))
		z.Close()
		return b.String()
	}
	header, rest, _ := strings.Cut(plain, "\n")
	for name, files := range map[string][]string{
		"plain":        {plain},
		"no last line": {strings.TrimSuffix(plain, "\n")},
		"quotes":       {longTable(func(i int, text string) string { return `"` + strings.Replace(text, ",", `",`, 1) })},
		"lines in quotes": {longTable(func(i int, text string) string {
			return "\"a line\nand another one, which " + strings.Repeat("is long\n", i%90) + strings.Replace(text, ",", `",`, 1)
		})},
		"missing":    {longTable(func(i int, text string) string { return withTarget(text, []string{"", "7"}[i%7%2]) })},
		"far from 0": {longTable(func(i int, text string) string { return withTarget(text, fmt.Sprint(int64(1e12)+int64(i))) })},
		"latin":      {longTable(func(i int, text string) string { return strings.Replace(text, "many", "caf\xe9", i%2) })},
		"two":        {plain[:strings.LastIndexByte(plain[:len(plain)/2], '\n')] + "\n", header + "\n" + rest[len(rest)/3*2+strings.IndexByte(rest[len(rest)/3*2:], '\n')+1:]},
		"packed":     {pack(plain), plain},
		"bad row":    {plain + "1,2\n" + rest},
		"long row":   {plain + strings.Repeat("x", 600_000) + ",i,1,2,3,train\n" + rest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var paths []string
			for i, text := range files {
				path := filepath.Join(t.TempDir(), fmt.Sprint("table", i))
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				paths = append(paths, path)
			}
			checkTogether(t, Files(paths...), schema, name == "plain" || name == "quotes" || name == "two" || name == "missing")
		})
	}
}

// counted counts the messages of a process: a table that each reads alone takes one.
type counted struct {
	backend.Ranks
	messages int
}

func (c *counted) Gather(data []byte, bounds []int) {
	c.messages++
	c.Ranks.Gather(data, bounds)
}

func checkTogether(t *testing.T, source Source, schema dataset.Schema, divided bool) {
	t.Helper()
	want, wantErr := Read(context.Background(), source, schema, Format{}, 1)
	for _, size := range []int{2, 5} {
		backendtest.OnRanks(size, func(r backend.Ranks) {
			group := &counted{Ranks: r}
			got, err := Read(context.Background(), source, schema, Format{Peers: group}, 1+r.Rank()%2)
			if divided && group.messages < 2 {
				t.Errorf("process %d of %d read the whole table", r.Rank(), size)
			}
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Errorf("process %d of %d: got the error %v, want %v", r.Rank(), size, err, wantErr)
			}
			if err != nil || wantErr != nil {
				return
			}
			for m, dict := range want.Dicts {
				if !reflect.DeepEqual(got.Dicts[m].IDs(), dict.IDs()) {
					t.Errorf("process %d of %d: other ids of mode %d than one process", r.Rank(), size, m)
				}
			}
			a, b := *got, *want
			a.Dicts, b.Dicts = nil, nil
			if !reflect.DeepEqual(a, b) {
				t.Errorf("process %d of %d: another table than that of one process: %d and %d rows", r.Rank(), size, a.Len(), b.Len())
			}
		})
	}
}

// The row groups of a Parquet file are divided, too.
func TestReadParquetTogether(t *testing.T) {
	t.Parallel()
	type row struct {
		Store string  `parquet:"store"`
		Month int32   `parquet:"month"`
		Units float64 `parquet:"units"`
	}
	var rows []row
	for i := range 30_000 {
		rows = append(rows, row{fmt.Sprint("s", i*7919%2003), int32(i / 2003), float64(i%31) / 8})
	}
	path := filepath.Join(t.TempDir(), "table.parquet")
	writeParquet(t, path, rows, 1700)
	modes, err := dataset.ParseModes("store,time=month")
	if err != nil {
		t.Fatal(err)
	}
	checkTogether(t, Files(path, path), dataset.Schema{Target: "units", Modes: modes, Duplicates: "sum"}, true)
}

// Processes that may keep their rows do so if no cell is repeated and there are no other columns;
// together they have the table of one.
func TestReadShare(t *testing.T) {
	t.Parallel()
	modes, err := dataset.ParseModes("store,item,time=month")
	if err != nil {
		t.Fatal(err)
	}
	table := func(repeated int) string { // sorted by store, item and month
		var b strings.Builder
		b.WriteString("store,item,month,units\n")
		for i := range 130_000 {
			if i == repeated {
				fmt.Fprintf(&b, "store-%d,item-%d,%d,%d\n", (i-1)/41_000, (i-1)/7, (i-1)%7, i%17)
				continue
			}
			fmt.Fprintf(&b, "store-%d,item-%d,%d,%d\n", i/41_000, i/7, i%7, i%17)
		}
		return b.String()
	}
	for name, test := range map[string]struct {
		repeated int
		rule     string
		weight   string
		divided  bool
	}{"distinct": {-1, "error", "", true}, "repeated": {41_000 * 2, "error", "", false}, "sum": {300, "sum", "", false}, "weights": {-1, "error", "units", false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "table.csv")
			if err := os.WriteFile(path, []byte(table(test.repeated)), 0o600); err != nil {
				t.Fatal(err)
			}
			schema := dataset.Schema{Target: "units", Modes: modes, Duplicates: test.rule, Weight: test.weight}
			want, wantErr := Read(context.Background(), Files(path), schema, Format{}, 1)
			for _, size := range []int{2, 3, 5} {
				backendtest.OnRanks(size, func(r backend.Ranks) {
					got, bounds, err := ReadShare(context.Background(), Files(path), schema, Format{Peers: r}, 1)
					if fmt.Sprint(err) != fmt.Sprint(wantErr) || (bounds != nil) != test.divided {
						t.Errorf("process %d of %d: got the error %v, want %v, and the bounds %v", r.Rank(), size, err, wantErr, bounds)
					}
					if err != nil || wantErr != nil {
						return
					}
					if bounds != nil {
						if got.Len() != bounds[r.Rank()+1]-bounds[r.Rank()] {
							t.Errorf("process %d of %d has %d rows of the bounds %v", r.Rank(), size, got.Len(), bounds)
						}
						for m, column := range got.Codes {
							got.Codes[m] = peers.Concat(r, column)
						}
						got.Y = peers.Concat(r, got.Y)
					}
					a, b := *got, *want
					a.Dicts, b.Dicts = nil, nil
					if !reflect.DeepEqual(a, b) || !reflect.DeepEqual(got.Dicts[1].IDs(), want.Dicts[1].IDs()) {
						t.Errorf("process %d of %d: another table than that of one process: %d and %d rows", r.Rank(), size, a.Len(), b.Len())
					}
				})
			}
		})
	}
}
