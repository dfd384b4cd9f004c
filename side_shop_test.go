package kft_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// shop is a made-up table of stores x items x months whose logarithm depends on
// the stores' and items' side columns: size and region, price and kind.
type shop struct {
	dir    string
	stores []string // ids
	items  []string
	level  func(store, item, month int) float64
}

const shopMonths = 6

var (
	regions = []string{"north", "south", "west"}
	kinds   = []string{"gin", "rum", "wine", "beer"}
)

// newShop writes sales.csv, stores.csv and items.csv. Every pair of store and item
// sells, in some months, but for those that leave out tells; the last store has
// no side row, and stores.csv has a row of a store that sells nothing.
func newShop(t testing.TB, stores, items int, leaveOut func(store, item int) bool) *shop {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 5))
	s := &shop{dir: t.TempDir()}
	var storeText, itemText, sales strings.Builder
	storeText.WriteString("store,region,size\n")
	itemText.WriteString("item,kind,price\n")
	size, region, storeOwn := make([]float64, stores), make([]int, stores), make([]float64, stores)
	for i := range stores {
		s.stores = append(s.stores, fmt.Sprintf("s%d", i))
		size[i], region[i], storeOwn[i] = rng.Float64(), i%len(regions), 0.1*rng.NormFloat64()
		if i < stores-1 {
			fmt.Fprintf(&storeText, "s%d,%s,%.4f\n", i, regions[region[i]], size[i])
		}
	}
	fmt.Fprintf(&storeText, "closed,north,0.5000\n")
	price, kind, itemOwn := make([]float64, items), make([]int, items), make([]float64, items)
	for i := range items {
		s.items = append(s.items, fmt.Sprintf("i%d", i))
		price[i], kind[i], itemOwn[i] = rng.Float64(), i%len(kinds), 0.1*rng.NormFloat64()
		fmt.Fprintf(&itemText, "i%d,%s,%.4f\n", i, kinds[kind[i]], price[i])
	}
	taste := make([]float64, len(regions)*len(kinds))
	for i := range taste {
		taste[i] = 0.5 * rng.NormFloat64()
	}
	s.level = func(store, item, month int) float64 {
		return 3 + math.Sin(4*size[store]) + 0.9*math.Cos(4*price[item]) + taste[region[store]*len(kinds)+kind[item]] +
			storeOwn[store] + itemOwn[item] + 0.3*math.Sin(float64(month))
	}
	sales.WriteString("store,item,month,units\n")
	for a := range stores {
		for b := range items {
			for m := range shopMonths {
				// The draws do not depend on what is left out.
				noise, sold := 0.15*rng.NormFloat64(), rng.IntN(2) == 0
				if sold && (leaveOut == nil || !leaveOut(a, b)) {
					fmt.Fprintf(&sales, "s%d,i%d,%d,%.4f\n", a, b, m+1, math.Exp(s.level(a, b, m)+noise))
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

func (s *shop) write(t testing.TB, name, text string) string {
	t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return s.path(name)
}

func (s *shop) read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(s.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// spec is a small fit of a fixed penalty with both side tables.
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

// plain is the same without side information.
func (s *shop) plain() kft.Spec {
	spec := s.spec("plain", "dual")
	spec.Side = kft.SideSpec{}
	return spec
}

func saved(t testing.TB, m *kft.Model) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.kft")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func loaded(t testing.TB, text []byte) *kft.Model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.kft")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := kft.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func predicted(t testing.TB, m *kft.Model, table string) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := m.PredictTable(t.Context(), kft.Files(table), &out, kft.TableOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func withSide(t testing.TB, m *kft.Model, tables ...string) *kft.Model {
	t.Helper()
	grown, err := m.WithSide(t.Context(), tables, nil)
	if err != nil {
		t.Fatal(err)
	}
	return grown
}

func medianOf(t testing.TB, m *kft.Model, store, item, month string) float64 {
	t.Helper()
	p, err := m.Predict(context.Background(), []kft.Cell{{"store": store, "item": item, "month": month}})
	if err != nil {
		t.Fatal(err)
	}
	return p[0].Median
}
