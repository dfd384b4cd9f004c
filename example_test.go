package kft_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/model"
)

// A small table whose cells are a row number times a column number, two of them
// left out.
func table() (dir, file string) {
	dir, err := os.MkdirTemp("", "kft-example-")
	if err != nil {
		panic(err)
	}
	text := "row,column,value\n"
	for i := 1; i <= 8; i++ {
		for j := 1; j <= 8; j++ {
			if (i != 3 || j != 5) && (i != 7 || j != 2) {
				text += fmt.Sprintf("r%d,c%d,%d\n", i, j, i*j)
			}
		}
	}
	file = filepath.Join(dir, "table.csv")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		panic(err)
	}
	return dir, file
}

func Example() {
	dir, file := table()
	defer os.RemoveAll(dir)
	spec := kft.Spec{
		Version: model.Version,
		Data:    model.DataSpec{Files: []string{file}, Target: "value", Modes: []string{"row", "column"}},
		Terms:   []string{"row,column:1", "row", "column"},
		Split:   "random:80/20/0",
		Fit:     model.FitSpec{Ridge: "uniform", Lambda: model.LambdaOf(0.001), Sweeps: 200, Patience: 50},
	}
	m, _, err := kft.Fit(context.Background(), spec, kft.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := m.Predict([]kft.Cell{{"row": "r3", "column": "c5"}, {"row": "r7", "column": "c2"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.0f %.0f\n", p[0].Mean, p[1].Mean)
	// Output: 15 14
}

func ExampleModel_Save() {
	dir, file := table()
	defer os.RemoveAll(dir)
	spec := kft.Spec{
		Version: model.Version,
		Data:    model.DataSpec{Files: []string{file}, Target: "value", Modes: []string{"row", "column"}},
		Terms:   []string{"row,column:2"},
	}
	m, _, err := kft.Fit(context.Background(), spec, kft.Options{Threads: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	path := filepath.Join(dir, "m.kft")
	if err := m.Save(path); err != nil {
		fmt.Println(err)
		return
	}
	again, err := kft.Load(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(again.Spec().Terms, again.Weights() == m.Weights())
	// Output: [row,column:2] true
}
