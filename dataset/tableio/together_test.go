package tableio_test

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
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
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
			checkTogether(t, tableio.Files(paths...), schema, name == "plain" || name == "quotes" || name == "two" || name == "missing")
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

func checkTogether(t *testing.T, source tableio.Source, schema dataset.Schema, divided bool) {
	t.Helper()
	want, wantErr := tableio.Read(context.Background(), source, schema, tableio.Format{}, 1)
	for _, size := range []int{2, 5} {
		backendtest.OnRanks(size, func(r backend.Ranks) {
			group := &counted{Ranks: r}
			got, err := tableio.Read(context.Background(), source, schema, tableio.Format{Peers: group}, 1+r.Rank()%2)
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
