package kft_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// uncertain are ways to say what is not known.
var uncertain = map[string]kft.UncertaintySpec{
	"point":                          {},
	"point, split":                   {Conformal: "split"},
	"mean-field, entity":             {Inference: "mean-field", Noise: "entity:store,item"},
	"mean-field, power, by mean":     {Inference: "mean-field", Noise: "power", Conformal: "group:mean"},
	"rows, split":                    {Inference: "entity-covariance", Conformal: "split"},
	"multivariate, by store":         {Inference: "multivariate", Conformal: "group:store"},
	"poisson":                        {Inference: "mean-field", Likelihood: "poisson"},
	"negative binomial, rows, split": {Inference: "entity-covariance", Likelihood: "negative-binomial", Conformal: "split"},
}

// fitUncertain fits one of them.
func fitUncertain(t testing.TB, table string, u kft.UncertaintySpec, change func(*kft.Spec)) *kft.Model {
	t.Helper()
	spec := salesSpec(table)
	spec.Uncertainty, spec.Fit.Sweeps, spec.Terms = u, 5, []string{"store,item,time:3", "store*item"}
	if u.Counts() {
		spec.Transform = "identity"
	}
	if u.Inference == "multivariate" { // is about side information
		spec.Side.Tables = []string{"time=@year,@month:cycle12"}
	}
	if change != nil {
		change(&spec)
	}
	m, _ := fitSales(t, spec, kft.Options{})
	return m
}

func predictText(t testing.TB, m *kft.Model, table string, opt kft.TableOptions) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := m.PredictTable(context.Background(), kft.Files(table), &out, opt); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// columnsOf reads the columns of predictions that are numbers.
func columnsOf(t testing.TB, text string) map[string][]float64 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	frame, err := tableio.ReadFrame(context.Background(), tableio.Files(path), tableio.Format{})
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string][]float64{}
	for c, name := range frame.Names {
		for _, cell := range frame.Columns[c] {
			v, _ := dataset.Number(cell)
			columns[name] = append(columns[name], v)
		}
	}
	return columns
}

var threeLevels = []float64{.05, .5, .95}

// A model of any kind predicts from its file what it predicted before, to the
// bit: means, quantiles and samples, with any number of threads.
func TestUncertaintySavesAndLoads(t *testing.T) {
	fitted := writeSales(t, 1200)
	table := filepath.Join(t.TempDir(), "some.csv")
	text, err := os.ReadFile(fitted)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	if err := os.WriteFile(table, []byte(strings.Join(lines[:200], "")), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, u := range uncertain {
		t.Run(name, func(t *testing.T) {
			m := fitUncertain(t, fitted, u, nil)
			file := filepath.Join(t.TempDir(), "m.kft")
			if err := m.Save(file); err != nil {
				t.Fatal(err)
			}
			loaded, err := kft.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			want := predictText(t, m, table, kft.TableOptions{Threads: 1, Quantiles: threeLevels, Samples: 3})
			for _, threads := range []int{1, 2, 8} {
				if got := predictText(t, loaded, table, kft.TableOptions{Threads: threads, Quantiles: threeLevels, Samples: 3}); got != want {
					t.Errorf("%d threads, from the file: other predictions", threads)
				}
			}
			if !strings.Contains(want, "sd_noise,q0.05,q0.5,q0.95,sample_1,sample_2,sample_3,unseen\n") {
				t.Errorf("columns %.200q", want)
			}
			// More samples are more columns; those that were there stay.
			one, more := columnsOf(t, want), columnsOf(t, predictText(t, m, table, kft.TableOptions{Samples: 5}))
			if !slices.Equal(one["sample_3"], more["sample_3"]) {
				t.Error("the third of five samples is another than the third of three")
			}
		})
	}
}

// Mean, standard deviation and quantiles of many samples are those of the
// columns; at cells that were trained, and at unknown ids.
func TestSamplesAgreeWithTheColumns(t *testing.T) {
	const draws = 2000
	table := writeSales(t, 1200)
	cells := filepath.Join(t.TempDir(), "cells.csv")
	text := "year,month,store,item\n2015,1,s1,i1\n2015,3,s2,i7\n2016,2,s11,i4\n2016,2,new,i4\n2016,2,new,newer\n2016,4,s7,i29\n"
	if err := os.WriteFile(cells, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, u := range uncertain {
		m := fitUncertain(t, table, u, nil)
		c := columnsOf(t, predictText(t, m, cells, kft.TableOptions{Samples: draws, Quantiles: threeLevels}))
		for i := range c["prediction"] {
			values := make([]float64, draws)
			var sum, square float64
			for k := range values {
				values[k] = c[fmt.Sprintf("sample_%d", k+1)][i]
				sum += values[k]
				square += values[k] * values[k]
			}
			mean := sum / draws
			sd := math.Sqrt(square/draws - mean*mean)
			// A layer leaves the mean as it is.
			if want := c["prediction"][i]; m.Uncertainty().Conformal == nil && math.Abs(mean-want) > 5*sd/math.Sqrt(draws) {
				t.Errorf("%s: row %d: samples have the mean %g, not %g", name, i, mean, want)
			}
			// The sd of a skewed target is known to some percent only.
			if want := c["sd"][i]; math.Abs(sd/want-1) > 0.25 {
				t.Errorf("%s: row %d: samples have the sd %g, not %g", name, i, sd, want)
			}
			slices.Sort(values)
			for _, p := range threeLevels {
				// As many samples lie below a quantile as should, or at it.
				q := float32(c[fmt.Sprintf("q%g", p)][i])
				below, upto := 0.0, 0.0
				for _, v := range values {
					if float32(v) < q {
						below++
					}
					if float32(v) <= q {
						upto++
					}
				}
				slack := 5*math.Sqrt(p*(1-p)*draws) + 0.01*draws // fields are products, not quite normal
				if below > p*draws+slack || upto < p*draws-slack {
					t.Errorf("%s: row %d: of %d samples %g lie below the quantile %g, %g up to it", name, i, draws, below, p, upto)
				}
			}
		}
	}
}

// The samples of a sum vary as the sum does: cells that share entities vary
// together.
func TestSumsOfSamplesAreCoherent(t *testing.T) {
	const draws = 300
	table := writeSales(t, 400) // few rows: uncertain cores
	m := fitUncertain(t, table, kft.UncertaintySpec{Inference: "mean-field"}, func(s *kft.Spec) {
		s.Transform, s.Terms = "identity", []string{"store,item:1", "time"}
	})
	cells := filepath.Join(t.TempDir(), "cells.csv")
	var b strings.Builder
	b.WriteString("year,month,store,item\n")
	for i := range 30 {
		fmt.Fprintf(&b, "2015,1,s3,i%d\n", i)
	}
	if err := os.WriteFile(cells, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	c := columnsOf(t, predictText(t, m, cells, kft.TableOptions{Samples: draws}))
	apart := 0.0
	for _, sd := range c["sd"] {
		apart += sd * sd
	}
	var sum, square float64
	for k := range draws {
		total := 0.0
		for _, v := range c[fmt.Sprintf("sample_%d", k+1)] {
			total += v
		}
		sum += total / draws
		square += total * total / draws
	}
	if got := square - sum*sum; got < 1.3*apart {
		t.Errorf("the sum has variance %g, its cells together %g: they share a store and a month", got, apart)
	}
}

// Rows of a table in other batches, among which ids come that describe themselves,
// have the same samples.
func TestSamplesOfNewIDs(t *testing.T) {
	table := writeSales(t, 2000)
	m := fitUncertain(t, table, kft.UncertaintySpec{Inference: "mean-field"}, func(s *kft.Spec) {
		s.Terms = []string{"store,item,time:2"}
		s.Side.Tables, s.Side.Variant = []string{"time=@year,@month:cycle12"}, "additive"
	})
	// A long comment makes a batch of few rows.
	filler := strings.Repeat("x", 1<<16)
	var long, short strings.Builder
	for _, b := range []*strings.Builder{&long, &short} {
		b.WriteString("year,month,store,item,note\n")
		for i := range 60 {
			note := "a"
			if b == &long {
				note = filler
			}
			fmt.Fprintf(b, "%d,%d,s%d,i%d,%s\n", 2015+i%5, i%12+1, i%20, i%30, note)
		}
	}
	var first map[string][]float64
	for _, text := range []string{long.String(), short.String()} {
		path := filepath.Join(t.TempDir(), "cells.csv")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{1, 4} {
			got := columnsOf(t, predictText(t, m, path, kft.TableOptions{Samples: 2, Threads: threads, Quantiles: []float64{.9}}))
			if first == nil {
				first = got
			}
			for _, column := range []string{"prediction", "median", "sd_model", "q0.9", "sample_1", "sample_2"} {
				if !slices.Equal(got[column], first[column]) {
					t.Errorf("%d threads, batches of another size: another column %s", threads, column)
				}
			}
		}
	}
}

// Levels that make no sense, or that the layer cannot give, are refused.
func TestQuantilesAreChecked(t *testing.T) {
	table := writeSales(t, 500)
	m := fitUncertain(t, table, kft.UncertaintySpec{Conformal: "split"}, nil)
	for want, levels := range map[string][]float64{
		"0 is not between 0 and 1":   {0, .5},
		"1.5 is not between 0 and 1": {.5, 1.5},
		"NaN is not between 0 and 1": {math.NaN()},
		"0.5 appears twice":          {.5, .5},
		"0.1 comes after 0.5":        {.5, .1},
	} {
		var wrong *kft.QuantileError
		if err := m.CheckQuantiles(levels); !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, not %q", levels, err, want)
		}
	}
	var few *conformal.TooFewRowsError
	if err := m.CheckQuantiles([]float64{.05, .999}); !errors.As(err, &few) || !strings.Contains(err.Error(), "quantile 0.999: 50 calibration rows cannot give a 99.8 % interval, which needs 999 or more") {
		t.Errorf("%v", err)
	}
	for _, n := range []int{-1, 1 << 20} {
		if _, err := m.PredictTable(context.Background(), kft.Files(table), &bytes.Buffer{}, kft.TableOptions{Samples: n}); err == nil {
			t.Errorf("%d samples were drawn", n)
		}
	}
}
