package kft_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/tune"
)

// products returns a table in memory: the product of row and column for numbers from 1
// to 8, without the cells (3, 5) and (7, 2).
func products() kft.Source {
	var row, column []int
	var value []float64
	for i := 1; i <= 8; i++ {
		for j := 1; j <= 8; j++ {
			if (i != 3 || j != 5) && (i != 7 || j != 2) {
				row, column, value = append(row, i), append(column, j), append(value, float64(i*j))
			}
		}
	}
	source, err := kft.Columns(kft.IntColumn("row", row), kft.IntColumn("column", column), kft.FloatColumn("value", value))
	if err != nil {
		log.Fatal(err)
	}
	return source
}

// productSpec describes a model of that table: effects of row and column, and an
// interaction of rank 1.
func productSpec() kft.Spec {
	return kft.Spec{
		Data:  kft.DataSpec{Target: "value", Modes: []string{"row", "column"}},
		Terms: []string{"row,column:1", "row", "column"},
		Split: "random:80/20/0",
		Fit:   kft.FitSpec{Ridge: "uniform", Lambda: kft.LambdaOf(0.001), Sweeps: 200, Patience: 50},
	}
}

// Fit a table in memory and predict the cells that it lacks.
func ExampleFit() {
	ctx := context.Background()
	m, _, err := kft.Fit(ctx, productSpec(), products(), kft.Options{})
	if err != nil {
		log.Fatal(err)
	}
	p, err := m.Predict(ctx, []kft.Cell{{"row": "3", "column": "5"}, {"row": "7", "column": "2"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f %.0f\n", p[0].Mean, p[1].Mean)
	// Output: 15 14
}

// Errors carry the path of the specification field that can fix them.
func ExampleFieldPath() {
	spec := productSpec()
	spec.Data.Target = "valu"
	_, _, err := kft.Fit(context.Background(), spec, products(), kft.Options{})
	var input *kft.InputError
	fmt.Println(errors.As(err, &input), kft.FieldPath(err))

	spec = productSpec()
	spec.Terms = []string{"row,colum:1"}
	_, _, err = kft.Fit(context.Background(), spec, products(), kft.Options{})
	var problems kft.Problems
	if errors.As(err, &problems) {
		fmt.Println(problems[0].Path)
	}
	// Output:
	// true data.target
	// terms[0]
}

// With a posterior, a prediction has a credible interval that includes the uncertainty
// of the weights.
func ExampleModel_Predict() {
	ctx := context.Background()
	spec := productSpec()
	spec.Fit = kft.FitSpec{}
	spec.Uncertainty.Inference = "mean-field"
	m, _, err := kft.Fit(ctx, spec, products(), kft.Options{})
	if err != nil {
		log.Fatal(err)
	}
	p, err := m.Predict(ctx, []kft.Cell{{"row": "3", "column": "5"}})
	if err != nil {
		log.Fatal(err)
	}
	low, high := p[0].Interval(0.9)
	fmt.Println(low < 15 && 15 < high, p[0].Distribution().Quantile(0.5) == p[0].Median)
	// Output: true true
}

// An id without training rows is predicted by the prior, except in strict mode.
func ExampleModel_PredictStrict() {
	ctx := context.Background()
	m, _, err := kft.Fit(ctx, productSpec(), products(), kft.Options{})
	if err != nil {
		log.Fatal(err)
	}
	cells := []kft.Cell{{"row": "3", "column": "5"}, {"row": "9", "column": "5"}}
	p, err := m.Predict(ctx, cells)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p[1].Unseen)
	_, err = m.PredictStrict(ctx, cells)
	fmt.Println(errors.Is(err, kft.ErrUnseenID), err)
	// Output:
	// [row]
	// true cell 2: mode row: the id "9" is not in the training data
}

// PredictTable copies a table and appends columns.
func ExampleModel_PredictTable() {
	ctx := context.Background()
	m, _, err := kft.Fit(ctx, productSpec(), products(), kft.Options{})
	if err != nil {
		log.Fatal(err)
	}
	table := strings.NewReader("row,column,note\n3,5,missing\n7,2,missing\n9,1,new row\n")
	var out strings.Builder
	summary, err := m.PredictTable(ctx, kft.Reader("cells", table), &out, kft.TableOptions{Quantiles: []float64{0.05, 0.95}})
	if err != nil {
		log.Fatal(err)
	}
	header, _, _ := strings.Cut(out.String(), "\n")
	fmt.Println(header)
	fmt.Println(summary.Rows, "rows, unseen ids by mode:", summary.Unseen)
	// Output:
	// row,column,note,prediction,median,sd,sd_model,sd_noise,q0.05,q0.95,unseen
	// 3 rows, unseen ids by mode: [1 0]
}

// The draws of several cells share their weights, so the sum of the cells in each draw is
// a draw of the sum.
func ExampleModel_Samples() {
	ctx := context.Background()
	spec := productSpec()
	spec.Fit = kft.FitSpec{}
	spec.Uncertainty.Inference = "mean-field"
	m, _, err := kft.Fit(ctx, spec, products(), kft.Options{})
	if err != nil {
		log.Fatal(err)
	}
	draws, err := m.Samples(ctx, []kft.Cell{{"row": "3", "column": "5"}, {"row": "7", "column": "2"}}, 200)
	if err != nil {
		log.Fatal(err)
	}
	totals := make([]float64, 200)
	for k := range totals {
		totals[k] = draws[0][k] + draws[1][k]
	}
	slices.Sort(totals)
	fmt.Println(totals[10] < 15+14 && 15+14 < totals[190])
	// Output: true
}

// A model is saved to one file, or written to any io.Writer.
func ExampleModel_Save() {
	m, _, err := kft.Fit(context.Background(), productSpec(), products(), kft.Options{})
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "kft-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "m.kft")
	if err := m.Save(path); err != nil {
		log.Fatal(err)
	}
	fromFile, err := kft.Load(path)
	if err != nil {
		log.Fatal(err)
	}
	var buffer bytes.Buffer
	if _, err := m.WriteTo(&buffer); err != nil {
		log.Fatal(err)
	}
	fromMemory, err := kft.ReadModel(&buffer)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fromFile.Spec().Terms, fromFile.Weights() == fromMemory.Weights())
	// Output: [row,column:1 row column] true
}

// A search fits variations of a specification. Its trials are kept in a database, which
// several processes can share.
func ExampleSearch() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "kft-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := tune.OpenStore(ctx, filepath.Join(dir, "study.db"), 0)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	search, err := kft.Search{Spec: productSpec(), Source: products()}.Open(ctx, store)
	if err != nil {
		log.Fatal(err)
	}
	if err := search.Work(ctx, 4, tune.Worker{}); err != nil {
		log.Fatal(err)
	}
	spec, trial, err := search.Best(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(spec.Terms) > 0, trial.State)
	// Output: true done
}

// Explain a prediction: what each id adds to the average.
func ExampleModel_Explain() {
	ctx := context.Background()
	m, _, err := kft.Fit(ctx, productSpec(), products(), kft.Options{})
	if err != nil {
		log.Fatal(err)
	}
	why, err := m.Explain(ctx, []kft.Cell{{"row": "7", "column": "2"}}, kft.ExplainOptions{Neighbours: -1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("average %.0f\n", why[0].Average)
	for _, part := range why[0].Parts {
		fmt.Printf("%s %+.0f\n", part.Label(), part.Value)
	}
	fmt.Printf("prediction %.0f\n", why[0].Prediction)
	// Output:
	// average 20
	// column 2, own weights -14
	// row 7, own weights +8
	// prediction 14
}
