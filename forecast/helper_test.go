package forecast

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// sales is a table of 12 stores x 8 items x 30 months, from 2014-1 to 2016-6, with a
// season of the year. Store s11 ends in 2015-12, and one pair in four does not sell.
func sales(t testing.TB) tableio.Source {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	var stores, items []string
	var years, months []int
	var units []float64
	for s := range 12 {
		for i := range 8 {
			if (s+i)%4 == 3 {
				continue
			}
			level := 2 + 0.4*float64(s%5) + 0.2*float64(i)
			for m := range 30 {
				if s == 11 && m >= 24 {
					break
				}
				if rng.Float64() < 0.1 && m != 29 {
					continue
				}
				stores, items = append(stores, fmt.Sprint("s", s)), append(items, fmt.Sprint("i", i))
				years, months = append(years, 2014+m/12), append(months, m%12+1)
				season := 0.5 * math.Sin(2*math.Pi*float64(m)/12)
				units = append(units, math.Round(math.Exp(level+season+0.2*rng.NormFloat64())))
			}
		}
	}
	c, err := dataset.NewColumns(dataset.StringColumn("store", stores), dataset.StringColumn("item", items), dataset.IntColumn("year", years), dataset.IntColumn("month", months), dataset.FloatColumn("units", units))
	if err != nil {
		t.Fatal(err)
	}
	return tableio.Columns(c)
}

func salesSpec() spec.Spec {
	s := spec.Spec{Data: spec.Data{Target: "units", Modes: []string{"store", "item", "time=year+month"}}, Split: "time:last=3", Transform: "log1p",
		Terms: []string{"store*item", "time.month"}, Uncertainty: spec.Uncertainty{Inference: "mean-field", Conformal: "horizon"}, Fit: spec.Fit{Sweeps: 10, Refit: "all"}, Seed: 1}
	s.Fill()
	return s
}

func salesModel(t testing.TB) *model.Model {
	t.Helper()
	m, _, err := search.Fit(t.Context(), salesSpec(), sales(t), train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// table is a CSV text as rows by column.
type table struct {
	header []string
	rows   []map[string]string
}

func write(t *testing.T, m *model.Model, o Options) (table, Summary) {
	t.Helper()
	var text strings.Builder
	sum, err := Write(t.Context(), m, &text, o)
	if err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := table{header: records[0]}
	for _, r := range records[1:] {
		row := map[string]string{}
		for i, v := range r {
			row[records[0][i]] = v
		}
		out.rows = append(out.rows, row)
	}
	return out, sum
}

func number(t *testing.T, row map[string]string, column string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(row[column], 64)
	if err != nil {
		t.Fatalf("column %s: %v", column, err)
	}
	return v
}

// changed is sales with the targets of a month of 2016 multiplied.
func changed(t *testing.T, month string, factor float64) tableio.Source {
	t.Helper()
	frame, err := tableio.ReadFrame(t.Context(), sales(t), tableio.Format{})
	if err != nil {
		t.Fatal(err)
	}
	columns := make([]dataset.Column, len(frame.Names))
	for c, name := range frame.Names {
		columns[c] = dataset.StringColumn(name, frame.Columns[c])
	}
	for i := range frame.Columns[0] {
		if frame.Columns[2][i] == "2016" && frame.Columns[3][i] == month {
			v, err := strconv.ParseFloat(frame.Columns[4][i], 64)
			if err != nil {
				t.Fatal(err)
			}
			columns[4].Strings[i] = fmt.Sprint(v * factor)
		}
	}
	table, err := dataset.NewColumns(columns...)
	if err != nil {
		t.Fatal(err)
	}
	return tableio.Columns(table)
}
