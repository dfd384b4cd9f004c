package kft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// A shop is a folder with a synthetic table of stores x items x months and side
// tables. The logarithm of the target depends on the side columns: size and region of
// a store, price and kind of an item.
type shop struct {
	dir    string
	stores []string // ids
}

const shopMonths = 6

var (
	shopRegions = []string{"north", "south", "west"}
	shopKinds   = []string{"gin", "rum", "wine", "beer"}
)

// newShop writes sales.csv, stores.csv and items.csv. Every pair of store and item has
// rows in some months, except the pairs for which exclude (nil for none) returns true.
// The last store has no side row. The store "closed" has a side row but no sales.
func newShop(t testing.TB, stores, items int, exclude func(store, item int) bool) *shop {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 5))
	s := &shop{dir: t.TempDir()}
	var storeText, itemText, sales strings.Builder
	storeText.WriteString("store,region,size\n")
	itemText.WriteString("item,kind,price\n")
	size, region, storeEffect := make([]float64, stores), make([]int, stores), make([]float64, stores)
	for i := range stores {
		s.stores = append(s.stores, fmt.Sprintf("s%d", i))
		size[i], region[i], storeEffect[i] = rng.Float64(), i%len(shopRegions), 0.1*rng.NormFloat64()
		if i < stores-1 {
			fmt.Fprintf(&storeText, "s%d,%s,%.4f\n", i, shopRegions[region[i]], size[i])
		}
	}
	fmt.Fprintf(&storeText, "closed,north,0.5000\n")
	price, kind, itemEffect := make([]float64, items), make([]int, items), make([]float64, items)
	for i := range items {
		price[i], kind[i], itemEffect[i] = rng.Float64(), i%len(shopKinds), 0.1*rng.NormFloat64()
		fmt.Fprintf(&itemText, "i%d,%s,%.4f\n", i, shopKinds[kind[i]], price[i])
	}
	interaction := make([]float64, len(shopRegions)*len(shopKinds))
	for i := range interaction {
		interaction[i] = 0.5 * rng.NormFloat64()
	}
	level := func(store, item, month int) float64 {
		return 3 + math.Sin(4*size[store]) + 0.9*math.Cos(4*price[item]) + interaction[region[store]*len(shopKinds)+kind[item]] +
			storeEffect[store] + itemEffect[item] + 0.3*math.Sin(float64(month))
	}
	sales.WriteString("store,item,month,units\n")
	for a := range stores {
		for b := range items {
			for m := range shopMonths {
				// The draws do not depend on the excluded pairs.
				noise, sold := 0.15*rng.NormFloat64(), rng.IntN(2) == 0
				if sold && (exclude == nil || !exclude(a, b)) {
					fmt.Fprintf(&sales, "s%d,i%d,%d,%.4f\n", a, b, m+1, math.Exp(level(a, b, m)+noise))
				}
			}
		}
	}
	s.write(t, "sales.csv", sales.String())
	s.write(t, "stores.csv", storeText.String())
	s.write(t, "items.csv", itemText.String())
	return s
}

func (s *shop) path(name string) string { return filepath.Join(s.dir, name) }

// write writes a file of the folder and returns its path.
func (s *shop) write(t testing.TB, name, text string) string {
	t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return s.path(name)
}

func (s *shop) read(t testing.TB, name string) string {
	t.Helper()
	return readFile(t, s.path(name))
}

// spec describes a small model with both side tables and a fixed penalty.
func (s *shop) spec(variant, space string) kft.Spec {
	return kft.Spec{
		Version:   1,
		Data:      kft.DataSpec{Files: []string{s.path("sales.csv")}, Target: "units", Modes: []string{"store", "item", "month"}},
		Transform: "log1p",
		Terms:     []string{"store,item,month:4"},
		Side:      kft.SideSpec{Tables: []string{"store=" + s.path("stores.csv"), "item=" + s.path("items.csv")}, Variant: variant, Space: space},
		Fit:       kft.FitSpec{Sweeps: 4, Ridge: "uniform", Lambda: kft.LambdaOf(1)},
	}
}

// plainSpec describes the same model without side information.
func (s *shop) plainSpec() kft.Spec {
	spec := s.spec("plain", "dual")
	spec.Side = kft.SideSpec{}
	return spec
}

// withSide returns the model with the rows of side tables, written MODE=FILE.
func withSide(t testing.TB, m *kft.Model, tables ...string) *kft.Model {
	t.Helper()
	extended, err := m.WithSide(t.Context(), tables, nil)
	if err != nil {
		t.Fatal(err)
	}
	return extended
}

// shopCell returns a cell of the shop's table.
func shopCell(store, item, month string) kft.Cell {
	return kft.Cell{"store": store, "item": item, "month": month}
}

// median returns the predicted median of a cell of the shop's table.
func median(t testing.TB, m *kft.Model, store, item, month string) float64 {
	t.Helper()
	return predictCells(t, m, shopCell(store, item, month))[0].Median
}
