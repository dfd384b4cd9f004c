package model_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/synthetic"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// sales returns rows by store, item and month, with side information of the stores.
var sales = sync.OnceValue(func() (s struct{ table, stores *dataset.Columns }) {
	rows := synthetic.New(synthetic.Options{Stores: 12, Items: 15, Months: 12, Pairs: 130, Seed: 1})
	text := func(prefix string, codes []int32) []string {
		ids := make([]string, len(codes))
		for i, c := range codes {
			ids[i] = fmt.Sprintf("%s%02d", prefix, c+1)
		}
		return ids
	}
	var err error
	s.table, err = dataset.NewColumns(dataset.StringColumn("store", text("s", rows.Store)), dataset.StringColumn("item", text("i", rows.Item)),
		dataset.StringColumn("period", text("2024-", rows.Month)), dataset.IntColumn("units", rows.Units))
	if err != nil {
		panic(err)
	}
	var ids []int32
	var area []float64
	for i := range int32(13) { // s13 has a side row and no sales
		ids, area = append(ids, i), append(area, float64(50+i*i%40))
	}
	if s.stores, err = dataset.NewColumns(dataset.StringColumn("store", text("s", ids)), dataset.FloatColumn("area", area)); err != nil {
		panic(err)
	}
	return s
})

// newSpec returns a specification with three terms for the table of sales.
func newSpec(inference string) spec.Spec {
	s := spec.Default()
	s.Data.Target, s.Data.Modes = "units", []string{"store", "item", "time=period"}
	s.Transform = "log1p"
	s.Terms = []string{"store,item,time:4", "store", "item"}
	s.Uncertainty.Inference, s.Uncertainty.Conformal = inference, "none"
	s.Fit = spec.Fit{Ridge: "uniform", Lambda: spec.LambdaOf(1), Sweeps: 5}
	s.Fill()
	return s
}

func fit(t testing.TB, s spec.Spec) *model.Model {
	t.Helper()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	m, _, err := train.ReadAndFit(t.Context(), s, tableio.Columns(sales().table),
		train.Options{Threads: 1, Tables: map[string]tableio.Source{"stores": tableio.Columns(sales().stores)}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// withSide adds side information of the stores.
func withSide(s spec.Spec) spec.Spec {
	s.Side.Tables = []string{"store=stores"}
	s.Side.Variant = "" // the default with tables
	s.Fill()
	return s
}

// cells returns all cells of some stores, items and months.
func cells(stores, items, months int) []model.Cell {
	var all []model.Cell
	for s := range stores {
		for i := range items {
			for m := range months {
				all = append(all, model.Cell{"store": fmt.Sprintf("s%02d", s+1), "item": fmt.Sprintf("i%02d", i+1), "time": fmt.Sprintf("2024-%02d", m+1)})
			}
		}
	}
	return all
}
