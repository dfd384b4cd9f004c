package relation

import (
	"math"
	"slices"
	"testing"
)

func TestProducts(t *testing.T) {
	t.Parallel()
	const rows = 200
	units, price, revenue, rounded, other, ones, one := make([]float64, rows), make([]float64, rows), make([]float64, rows), make([]float64, rows), make([]float64, rows), make([]float64, rows), make([]float64, rows)
	for i := range rows {
		units[i], price[i], other[i], ones[i] = float64(i*7%40), 2+float64(i*13%100)/100, float64(i*31%17), 1
		revenue[i] = units[i] * price[i]
		rounded[i], one[i] = math.Round(100*revenue[i])/100, revenue[i]
	}
	one[rows/2] += 50
	ones[3] = 2
	revenue[5] = math.NaN() // unknown
	for name, c := range map[string]struct {
		y       []float64
		columns [][]float64
		want    []Product
	}{
		"two factors":                     {revenue, [][]float64{units, other, price}, []Product{{0, 2, true}, {2, 0, true}}},
		"rounded":                         {rounded, [][]float64{units, price}, []Product{{0, 1, true}, {1, 0, true}}},
		"a product of the target":         {units, [][]float64{price, rounded}, []Product{{1, 0, false}}},
		"one other row":                   {one, [][]float64{units, price}, nil},
		"a factor of 1 in nearly all":     {ones, [][]float64{ones, one}, nil},
		"columns that have no such thing": {other, [][]float64{units, price}, nil},
	} {
		if got := Products(c.y, c.columns, 20); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
