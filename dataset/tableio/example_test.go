package tableio_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

const sales = "year,month,store,item,bottles\n2016,11,2106,x904631,12\n2016,12,2106,x904631,6\n2016,12,2113,007,NA\n"

func printTable(t *dataset.Table) {
	for k := range t.Len() {
		fmt.Println(t.CellName(int32(k)), t.Y[k])
	}
	fmt.Println(t.Counts.Rows, "rows,", t.Counts.Missing, "without target")
}

func ExampleRead() {
	dir, err := os.MkdirTemp("", "kft")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "sales.csv")
	if err := os.WriteFile(path, []byte(sales), 0o600); err != nil {
		panic(err)
	}
	modes, err := dataset.ParseModes("store,item,time=year+month")
	if err != nil {
		panic(err)
	}
	t, err := tableio.Read(context.Background(), tableio.Files(path), dataset.Schema{Target: "bottles", Modes: modes}, tableio.Format{}, 0)
	if err != nil {
		panic(err)
	}
	printTable(t)
	// Output:
	// store=2106,item=x904631,time=2016-11 12
	// store=2106,item=x904631,time=2016-12 6
	// 3 rows, 1 without target
}

// A source may be any reader: a network connection, a compressed stream, a Parquet
// file in memory.
func ExampleReader() {
	modes, err := dataset.ParseModes("store,item,time=year+month")
	if err != nil {
		panic(err)
	}
	source := tableio.Reader("sales", strings.NewReader(sales))
	t, err := tableio.Read(context.Background(), source, dataset.Schema{Target: "bottles", Modes: modes}, tableio.Format{}, 0)
	if err != nil {
		panic(err)
	}
	printTable(t)
	// Output:
	// store=2106,item=x904631,time=2016-11 12
	// store=2106,item=x904631,time=2016-12 6
	// 3 rows, 1 without target
}

// A table in memory gives the same observations as a file with the same content.
func ExampleColumns() {
	columns, err := dataset.NewColumns(
		dataset.IntColumn("store", []int{2106, 2106, 2113}),
		dataset.StringColumn("when", []string{"2016-11-30 18:30", "2016-12-01 09:15", "2016-12-01 09:45"}),
		dataset.FloatColumn("bottles", []float64{12, 6, 2.5}),
	)
	if err != nil {
		panic(err)
	}
	modes, err := dataset.ParseModes("store,hour(when)")
	if err != nil {
		panic(err)
	}
	t, err := tableio.Read(context.Background(), tableio.Columns(columns), dataset.Schema{Target: "bottles", Modes: modes}, tableio.Format{}, 0)
	if err != nil {
		panic(err)
	}
	printTable(t)
	// Output:
	// store=2106,hour=18 12
	// store=2106,hour=9 6
	// store=2113,hour=9 2.5
	// 3 rows, 0 without target
}

func ExampleVisitBatches() {
	schema := dataset.Schema{Modes: []dataset.Mode{{Name: "store", Columns: []string{"store"}}}}
	dicts := []*dataset.Dict{dataset.NewDict([]string{"2106"})}
	var known atomic.Int64
	source := tableio.Reader("sales", strings.NewReader(sales))
	err := tableio.VisitBatches(context.Background(), source, schema, dicts, tableio.Format{}, 0, func(b *tableio.Batch) error {
		for _, code := range b.Codes[0] {
			if code >= 0 {
				known.Add(1)
			}
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(known.Load(), "rows of known stores")
	// Output: 2 rows of known stores
}

func ExampleAppendColumns() {
	schema := dataset.Schema{Modes: []dataset.Mode{{Name: "store", Columns: []string{"store"}}}}
	dicts := []*dataset.Dict{dataset.NewDict([]string{"2106"})}
	var out bytes.Buffer
	err := tableio.AppendColumns(context.Background(), tableio.Reader("sales", strings.NewReader("store,bottles\n2106,12\n2113,6\n")),
		schema, dicts, tableio.Format{}, 0, &out, tableio.Output{}, []tableio.AddedColumn{{Name: "code"}},
		func(b *tableio.Batch, values *tableio.AddedValues) error {
			for i, code := range b.Codes[0] {
				values.Numbers[0][i] = float32(code)
			}
			return nil
		})
	if err != nil {
		panic(err)
	}
	fmt.Print(out.String())
	// Output:
	// store,bottles,code
	// 2106,12,0
	// 2113,6,-1
}

func ExampleGuessColumns() {
	text := "year,month,store,bottles\n2016,11,2106,12\n2016,12,2106,6\n2016,11,2113,3\n2016,12,2113,9\n"
	g, err := tableio.GuessColumns(tableio.Reader("sales", strings.NewReader(text)), tableio.Format{})
	if err != nil {
		panic(err)
	}
	fmt.Println(g.Target, g.Modes)
	// Output: bottles [store time=year+month]
}
