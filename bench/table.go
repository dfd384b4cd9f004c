package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/klauspost/compress/gzip"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// sales is a table of bottles sold by store, item and month. If it has a text, row
// k is data line k of the text.
type sales struct {
	sizes [3]int // stores, items, months
	codes [][]int32
	y     []float32
	text  []byte // the table as CSV
}

// schema returns the schema for reading the text.
func (s *sales) schema() (dataset.Schema, error) {
	schema := dataset.Schema{Target: "bottles"}
	for _, text := range salesModes {
		mode, err := dataset.ParseMode(text)
		if err != nil {
			return schema, err
		}
		schema.Modes = append(schema.Modes, mode)
	}
	return schema, nil
}

var salesModes = []string{"store", "item", "time=year+month"}

// loadTable sets r.sales to the table in Options.Data or to a synthetic one.
func (r *run) loadTable() (err error) {
	s := r.sizes
	if r.opt.Data != "" {
		file := filepath.Join(r.opt.Data, "sales_2015_2016.csv.gz")
		r.sales, err = readSales(r.ctx, file)
		if !errors.Is(err, fs.ErrNotExist) {
			r.result.Table = filepath.Base(file)
			return err
		}
	}
	r.sales = makeSales(s.stores, s.items, s.months, s.cells)
	r.sales.sort()
	r.sales.write()
	r.result.Table = fmt.Sprintf("synthetic: %d stores, %d items, %d months, %d cells", s.stores, s.items, s.months, len(r.sales.y))
	return nil
}

func readSales(ctx context.Context, file string) (*sales, error) {
	packed, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	unpacker, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	s := &sales{}
	if s.text, err = io.ReadAll(unpacker); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	schema, err := s.schema()
	if err != nil {
		return nil, err
	}
	t, err := tableio.Read(ctx, tableio.Files(file), schema, tableio.Format{}, 0)
	if err != nil {
		return nil, err
	}
	s.codes, s.y = t.Codes, t.Y
	for m, d := range t.Dicts {
		s.sizes[m] = d.Len()
	}
	return s, nil
}

// assortment holds quantiles of the number of stores, of 1507, that sell an item
// in the sales that the synthetic table imitates: half of the items are in a few
// dozen stores or fewer, one percent is in nearly all. Items of few stores are sold
// in few months.
var assortment = []struct{ quantile, stores, months float64 }{
	{0, 1, 1}, {0.22, 1, 2}, {0.25, 2, 3}, {0.36, 5, 4}, {0.5, 27, 8}, {0.7, 100, 24},
	{0.75, 133, 24}, {0.9, 292, 24}, {0.95, 450, 24}, {0.99, 900, 24}, {1, 1362, 24},
}

// makeSales draws about the given number of cells: per item some stores, the same
// ones in all months of the item, each with a propensity to buy. A larger number of
// cells puts items into more stores and months.
func makeSales(stores, items, months, cells int) *sales {
	low, high := 0.0, 100.0
	for range 40 {
		if middle := (low + high) / 2; expectedCells(stores, items, months, middle) < float64(cells) {
			low = middle
		} else {
			high = middle
		}
	}
	s := &sales{sizes: [3]int{stores, items, months}, codes: make([][]int32, 3)}
	random := rand.New(rand.NewPCG(2015, 2016))
	order := make([]int32, stores)
	for i := range order {
		order[i] = int32(i)
	}
	place := random.Perm(items)
	for item := range items {
		shops, length := assortmentOf(place[item], stores, items, months, high)
		first := random.IntN(months - length + 1)
		for k := range shops {
			// One step of a shuffle; u is squared so that some stores have far more.
			u := random.Float64()
			other := k + int(u*u*float64(stores-k))
			order[k], order[other] = order[other], order[k]
			threshold := math.Pow(random.Float64(), 1/propensity-1)
			certain := first + random.IntN(length)
			for month := first; month < first+length; month++ {
				if month == certain || random.Float64() < threshold {
					s.codes[0] = append(s.codes[0], order[k])
					s.codes[1] = append(s.codes[1], int32(item))
					s.codes[2] = append(s.codes[2], int32(month))
					s.y = append(s.y, float32(1+int(random.ExpFloat64()*11)))
				}
			}
		}
	}
	return s
}

// propensity is the mean share of the months of an item in which a store sells it,
// in addition to one month in which it always does.
const propensity = 0.24

// assortmentOf returns the number of stores and months in which the item with the
// given popularity rank is sold.
func assortmentOf(place, stores, items, months int, scale float64) (shops, length int) {
	q := (float64(place) + 0.5) / float64(items)
	i := 1
	for assortment[i].quantile < q {
		i++
	}
	a, b := assortment[i-1], assortment[i]
	t := (q - a.quantile) / (b.quantile - a.quantile)
	between := func(x, y float64) float64 { return x * math.Pow(y/x, t) }
	wide := between(a.stores, b.stores) * scale * float64(stores) / 1507
	long := between(a.months, b.months) * max(1, scale) * float64(months) / 24
	return max(1, min(stores, int(wide))), max(1, min(months, int(long)))
}

func expectedCells(stores, items, months int, scale float64) float64 {
	sum := 0.0
	for place := range items {
		shops, length := assortmentOf(place, stores, items, months, scale)
		sum += float64(shops) * (1 + propensity*float64(length-1))
	}
	return sum
}

// sort orders the rows, which were drawn by item, by month, store and item, as in
// the real table.
func (s *sales) sort() {
	order := make([]int32, len(s.y))
	for i := range order {
		order[i] = int32(i)
	}
	for _, mode := range []int{0, 2} {
		next := make([]int32, s.sizes[mode]+1)
		for _, code := range s.codes[mode] {
			next[code+1]++
		}
		for code := range s.sizes[mode] {
			next[code+1] += next[code]
		}
		sorted := make([]int32, len(order))
		for _, row := range order {
			at := &next[s.codes[mode][row]]
			sorted[*at] = row
			*at++
		}
		order = sorted
	}
	for mode, codes := range s.codes {
		s.codes[mode] = permuted(codes, order)
	}
	s.y = permuted(s.y, order)
}

func permuted[T any](x []T, order []int32) []T {
	y := make([]T, len(x))
	for i, from := range order {
		y[i] = x[from]
	}
	return y
}

// write formats the text of a synthetic table.
func (s *sales) write() {
	s.text = append(make([]byte, 0, 24*len(s.y)+64), "year,month,store,item,bottles\n"...)
	for row, y := range s.y {
		month := int64(s.codes[2][row])
		for _, v := range [...]int64{2015 + month/12, 1 + month%12, 2106 + 3*int64(s.codes[0][row]), 10550 + 7*int64(s.codes[1][row])} {
			s.text = append(strconv.AppendInt(s.text, v, 10), ',')
		}
		s.text = append(strconv.AppendInt(s.text, int64(y), 10), '\n')
	}
}

// sample returns the text of every step-th row and of the first row of each store,
// item and month: a small table that contains all ids.
func (s *sales) sample(step int) []byte {
	header := bytes.IndexByte(s.text, '\n') + 1
	small, rest := append([]byte(nil), s.text[:header]...), s.text[header:]
	var seen [3][]bool
	for mode := range seen {
		seen[mode] = make([]bool, s.sizes[mode])
	}
	for row := range s.y {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			end = len(rest)
		}
		take := row%step == 0
		for mode, codes := range s.codes {
			known := &seen[mode][codes[row]]
			take = take || !*known
			*known = true
		}
		if take {
			small = append(small, rest[:end]...)
		}
		rest = rest[end:]
	}
	return small
}
