package kft_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
)

// TestSamplesAgreeWithColumns compares mean, standard deviation and quantiles of many
// samples with the columns of PredictTable, for trained and for unseen ids.
func TestSamplesAgreeWithColumns(t *testing.T) {
	t.Parallel()
	table := testtable.WriteSales(t, 1200)
	cells := writeFile(t, "cells.csv", "year,month,store,item\n2015,1,s1,i1\n2015,3,s2,i7\n2016,2,s11,i4\n2016,2,new,i4\n2016,2,new,newer\n2016,4,s7,i29\n")
	for name, u := range uncertaintySpecs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const draws = 2000
			m := fitUncertain(t, table, u, nil)
			columns := numberColumns(t, predictFile(t, m, cells, kft.TableOptions{Samples: draws, Quantiles: threeLevels()}))
			for row := range columns["prediction"] {
				samples := make([]float64, draws)
				for k := range samples {
					samples[k] = columns[fmt.Sprintf("sample_%d", k+1)][row]
				}
				mean, variance := meanAndVariance(samples)
				sd := math.Sqrt(variance)
				// A conformal correction does not change the reported mean.
				if want := columns["prediction"][row]; m.Uncertainty().Conformal == nil && math.Abs(mean-want) > 5*sd/math.Sqrt(draws) {
					t.Errorf("row %d: got mean %g of the samples, want %g", row, mean, want)
				}
				// The sd of a skewed target has a large sampling error.
				if want := columns["sd"][row]; math.Abs(sd/want-1) > 0.25 {
					t.Errorf("row %d: got sd %g of the samples, want %g", row, sd, want)
				}
				shift := 0.0
				if c := m.Uncertainty().Conformal; c != nil {
					shift = 1.2 / math.Sqrt(float64(c.Rows)) // draws have centred scores: 3 standard errors, times the density at the median
				}
				for _, p := range threeLevels() {
					checkQuantileOfSamples(t, row, samples, p, shift, columns[fmt.Sprintf("q%g", p)][row])
				}
			}
		})
	}
}

// meanAndVariance returns the mean and the variance of values.
func meanAndVariance(values []float64) (mean, variance float64) {
	var sum, square float64
	for _, v := range values {
		sum += v
		square += v * v
	}
	n := float64(len(values))
	mean = sum / n
	return mean, square/n - mean*mean
}

// checkQuantileOfSamples checks that a share p of the samples lies below the quantile.
// Samples that equal it may count on either side. The share may differ by shift.
func checkQuantileOfSamples(t *testing.T, row int, samples []float64, p, shift, quantile float64) {
	t.Helper()
	below, upTo := 0.0, 0.0
	for _, v := range samples {
		if float32(v) < float32(quantile) {
			below++
		}
		if float32(v) <= float32(quantile) {
			upTo++
		}
	}
	n := float64(len(samples))
	slack := 5*math.Sqrt(p*(1-p)*n) + (0.01+shift)*n // a field is a product of weights, so not exactly normal
	if below > p*n+slack || upTo < p*n-slack {
		t.Errorf("row %d, quantile %g: got %g samples below it and %g up to it, want %g +- %g", row, p, below, upTo, p*n, slack)
	}
}

// TestSamplesShareWeights checks that cells that share entities vary together: the
// variance of their sum is larger than the sum of their variances.
func TestSamplesShareWeights(t *testing.T) {
	t.Parallel()
	const draws = 300
	table := testtable.WriteSales(t, 400) // few rows, so the cores are uncertain
	m := fitUncertain(t, table, kft.UncertaintySpec{Inference: "mean-field"}, func(s *kft.Spec) {
		s.Transform, s.Terms = "identity", []string{"store,item:1", "time"}
	})
	text := "year,month,store,item\n"
	for i := range 30 {
		text += fmt.Sprintf("2015,1,s3,i%d\n", i)
	}
	columns := numberColumns(t, predictFile(t, m, writeFile(t, "cells.csv", text), kft.TableOptions{Samples: draws}))
	independent := 0.0
	for _, sd := range columns["sd"] {
		independent += sd * sd
	}
	totals := make([]float64, draws)
	for k := range totals {
		for _, v := range columns[fmt.Sprintf("sample_%d", k+1)] {
			totals[k] += v
		}
	}
	if _, got := meanAndVariance(totals); got < 1.3*independent {
		t.Errorf("got variance %g of the sum of cells that share a store and a month, want at least 1.3 times %g, the sum of their variances", got, independent)
	}
}

// TestSamplesDoNotDependOnBatches predicts the same rows in batches of different sizes.
// Some rows have new ids whose side information follows from the id.
func TestSamplesDoNotDependOnBatches(t *testing.T) {
	t.Parallel()
	m := fitUncertain(t, testtable.WriteSales(t, 2000), kft.UncertaintySpec{Inference: "mean-field"}, func(s *kft.Spec) {
		s.Terms = []string{"store,item,time:2"}
		s.Side.Tables, s.Side.Variant = []string{"time=@year,@month:cycle12"}, "additive"
	})
	tableWith := func(note string) string {
		text := "year,month,store,item,note\n"
		for i := range 60 {
			text += fmt.Sprintf("%d,%d,s%d,i%d,%s\n", 2015+i%5, i%12+1, i%20, i%30, note)
		}
		return writeFile(t, "cells.csv", text)
	}
	var want map[string][]float64
	for _, path := range []string{tableWith(strings.Repeat("x", 1<<16)), tableWith("a")} { // long rows make small batches
		for _, threads := range []int{1, 4} {
			got := numberColumns(t, predictFile(t, m, path, kft.TableOptions{Samples: 2, Threads: threads, Quantiles: []float64{.9}}))
			if want == nil {
				want = got
			}
			for _, column := range []string{"prediction", "median", "sd_model", "q0.9", "sample_1", "sample_2"} {
				if !slices.Equal(got[column], want[column]) {
					t.Errorf("%d threads, column %s: got %v, want %v", threads, column, got[column], want[column])
				}
			}
		}
	}
}
