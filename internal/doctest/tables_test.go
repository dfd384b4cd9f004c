package doctest

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// The tables of the concept pages contain sales of five categories of goods in shops
// of four cities over 24 months. The units of a cell are ceil(exp(f + 0.25 e)), e
// normal, with
//
//	f = taste of the city for the category + slope in the logarithm of the area
//	    - 0.4 log price + effect of the shop + effect of the item
//	    + season of the category
//
// so that side information explains most of the variance and ids the rest.
const (
	shops, goods, months = 28, 40, 24
	sold                 = 0.13 // share of cells with a row
	ownSD                = 0.15
	noiseSD              = 0.25
)

var (
	cities = []struct {
		name     string
		lat, lon float64
	}{{"Ames", 42.03, -93.62}, {"Boone", 42.06, -93.88}, {"Clinton", 41.84, -90.19}, {"Dubuque", 42.50, -90.66}}
	categories = []struct {
		name string
		peak float64 // month with the highest sales
	}{{"bread", 0}, {"cider", 9}, {"flowers", 5}, {"ice", 7}, {"soup", 1}}
	tags = []string{"local", "organic", "imported"}
)

type shop struct {
	city      int
	lat, lon  float64
	area, own float64
}

type good struct {
	category, pack int
	price, own     float64
	tags           string
}

// makeTables returns the tables by file name.
func makeTables() map[string][]byte {
	r := randstream.New(1, "tables of the concept pages")
	allShops := make([]shop, shops+2) // the last two open later
	for i := range allShops {
		c := i % len(cities)
		allShops[i] = shop{c, cities[c].lat + 0.02*r.NormFloat64(), cities[c].lon + 0.02*r.NormFloat64(), math.Round(80 * math.Exp(0.6*r.NormFloat64())), ownSD * r.NormFloat64()}
	}
	allGoods := make([]good, goods)
	for i := range allGoods {
		g := good{category: i % len(categories), pack: []int{1, 6, 12}[r.IntN(3)], price: math.Round(250*math.Exp(0.5*r.NormFloat64())) / 100, own: ownSD * r.NormFloat64()}
		for _, tag := range tags {
			if r.Float64() < 0.4 {
				if g.tags != "" {
					g.tags += "|"
				}
				g.tags += tag
			}
		}
		allGoods[i] = g
	}
	taste := make([][]float64, len(cities))
	for c := range taste {
		for range categories {
			taste[c] = append(taste[c], 2+0.7*r.NormFloat64())
		}
	}
	// Derived tables of the first year: whether the units are popular, units with errors of data entry, and
	// units that the stock limits.
	var sales, popular, typos, limited bytes.Buffer
	sales.WriteString("year,month,store,item,units\n")
	popular.WriteString("year,month,store,item,popular\n")
	typos.WriteString("year,month,store,item,units\n")
	limited.WriteString("year,month,store,item,units,sold_out\n")
	rows := 0
	for m := range months {
		for s := range shops {
			for i := range allGoods {
				e := r.NormFloat64()
				if r.Float64() > sold {
					continue
				}
				at, g := &allShops[s], &allGoods[i]
				f := taste[at.city][g.category] + 0.5*math.Log(at.area/80) - 0.4*math.Log(g.price/2.5) + at.own + g.own +
					0.5*math.Cos(2*math.Pi*(float64(m%12)-categories[g.category].peak)/12)
				rows++
				cell, units := fmt.Sprintf("%d,%d,S%02d,A%02d", 2023+m/12, m%12+1, s+1, i+1), int(math.Ceil(math.Exp(f+noiseSD*e)))
				fmt.Fprintf(&sales, "%s,%d\n", cell, units)
				if m >= 12 {
					continue
				}
				stock := 8 + rows%16
				fmt.Fprintf(&popular, "%s,%s\n", cell, map[bool]string{true: "yes", false: "no"}[units >= 10])
				fmt.Fprintf(&typos, "%s,%d\n", cell, map[bool]int{true: 10 * units, false: units}[rows%40 == 0])
				fmt.Fprintf(&limited, "%s,%d,%s\n", cell, min(units, stock), map[bool]string{true: "yes", false: ""}[units > stock])
			}
		}
	}
	var stores, opening, items bytes.Buffer
	stores.WriteString("store,city,lat,lon,area\n")
	opening.WriteString("store,city,lat,lon,area\n")
	for i, s := range allShops {
		area := fmt.Sprintf("%.0f", s.area)
		switch i {
		case 4: // missing value
			area = ""
		case 11: // missing from the table
			continue
		}
		to := &stores
		if i >= shops {
			to = &opening
		}
		fmt.Fprintf(to, "S%02d,%s,%.3f,%.3f,%s\n", i+1, cities[s.city].name, s.lat, s.lon, area)
	}
	stores.WriteString("S99,Ames,42.030,-93.620,55\n") // has no sales yet
	items.WriteString("item,category,price,pack,tags\n")
	for i, g := range allGoods {
		fmt.Fprintf(&items, "A%02d,%s,%.2f,%d,%s\n", i+1, categories[g.category].name, g.price, g.pack, g.tags)
	}
	return map[string][]byte{"sales.csv": sales.Bytes(), "stores.csv": stores.Bytes(), "new_stores.csv": opening.Bytes(), "items.csv": items.Bytes(),
		"popular.csv": popular.Bytes(), "typos.csv": typos.Bytes(), "limited.csv": limited.Bytes(),
		"plans.csv": []byte("year,month,store,item\n2024,12,S01,A03\n2024,12,S29,A03\n2024,12,S30,A03\n2025,1,S01,A03\n2024,12,S01,A77\n")}
}

// TestTables compares the tables in the repository with what the generator makes.
func TestTables(t *testing.T) {
	total := 0
	for name, want := range makeTables() {
		total += len(want)
		file := filepath.Join(dataFolder, name)
		got, err := os.ReadFile(file)
		if err == nil && bytes.Equal(got, want) {
			continue
		}
		if !*update {
			t.Errorf("%s differs from the output of makeTables (go test ./internal/doctest -update writes it)", file)
			continue
		}
		if err := os.WriteFile(file, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if total > 200_000 {
		t.Errorf("got %d bytes of tables, want at most 200 KB", total)
	}
}
