package dataset_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// table writes a small table to a temporary folder.
func table(text string) (path string, remove func()) {
	dir, err := os.MkdirTemp("", "kft")
	if err != nil {
		panic(err)
	}
	path = filepath.Join(dir, "sales.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		panic(err)
	}
	return path, func() { os.RemoveAll(dir) }
}

func ExampleRead() {
	path, remove := table("year,month,store,item,bottles\n2016,11,2106,x904631,12\n2016,12,2106,x904631,6\n2016,12,2113,007,NA\n")
	defer remove()
	modes, err := dataset.ParseModes("store,item,time=year+month")
	if err != nil {
		panic(err)
	}
	t, err := dataset.Read(context.Background(), []string{path}, dataset.Schema{Target: "bottles", Modes: modes}, dataset.Format{}, 0)
	if err != nil {
		panic(err)
	}
	for k := range t.Len() {
		for m, dict := range t.Dicts {
			fmt.Printf("%s=%s ", t.Modes[m].Name, dict.ID(t.Codes[m][k]))
		}
		fmt.Println(t.Y[k])
	}
	fmt.Println(t.Counts.Rows, "rows,", t.Counts.Missing, "without target")
	// Output:
	// store=2106 item=x904631 time=2016-11 12
	// store=2106 item=x904631 time=2016-12 6
	// 3 rows, 1 without target
}

func ExampleMap() {
	path, remove := table("store,bottles\n2106,12\n2113,6\n")
	defer remove()
	schema := dataset.Schema{Modes: []dataset.Mode{{Name: "store", Columns: []string{"store"}}}}
	dicts := []*dataset.Dict{dataset.NewDict([]string{"2106"})}
	err := dataset.Map(context.Background(), path, schema, dicts, dataset.Format{}, 0, os.Stdout,
		func(header []byte, delimiter byte) []byte { return append(append(header, delimiter), "known"...) },
		func(b *dataset.Batch, dst []byte) ([]byte, error) {
			for i := range b.Len() {
				dst = append(dst, b.Line(i)...)
				dst = fmt.Appendf(dst, ",%t\n", b.Codes[0][i] >= 0)
			}
			return dst, nil
		})
	if err != nil {
		panic(err)
	}
	// Output:
	// store,bottles,known
	// 2106,12,true
	// 2113,6,false
}

func ExampleSplitSpec_Apply() {
	path, remove := table("month,store,bottles\n1,a,1\n2,a,2\n3,a,3\n10,a,4\n")
	defer remove()
	modes, err := dataset.ParseModes("store,time=month")
	if err != nil {
		panic(err)
	}
	t, err := dataset.Read(context.Background(), []string{path}, dataset.Schema{Target: "bottles", Modes: modes}, dataset.Format{}, 0)
	if err != nil {
		panic(err)
	}
	spec, err := dataset.ParseSplit("time:last=1")
	if err != nil {
		panic(err)
	}
	split, err := spec.Apply(t, 1)
	if err != nil {
		panic(err)
	}
	fmt.Println(split.Parts)
	// Output: [train train valid test]
}

func ExampleGuess() {
	path, remove := table("year,month,store,bottles\n2016,11,2106,12\n2016,12,2106,6\n2016,11,2113,3\n2016,12,2113,9\n")
	defer remove()
	g, err := dataset.Guess(path, dataset.Format{})
	if err != nil {
		panic(err)
	}
	fmt.Println(g.Target, g.Modes)
	// Output: bottles [store time=year+month]
}
