// Package synthetic generates tables with a known truth, so that a model can be
// compared with the best attainable result and not only with other models.
//
// Table holds sales by store, item and month. The units sold in a cell are a count
// of 1 or more,
//
//	y = ceil(exp(f + sigma e)),   e standard normal,
//	f = level + a(store) + b(item) + u(store)' V(item) w(month) + p(store, item),
//
// where a and b are power laws in rank, the product is a tensor train of rank 3
// whose last core is smooth in time (a trend and a season), and p is drawn for each
// pair. A pair is stocked in proportion to the sizes of its store and item. It sells
// in more months if its level is higher. A cell without sales has no row.
//
// At the default size the truth explains about 0.85 of the variance of log1p(y) and
// 0.75 of the variance of y, which is dominated by a few large values. No model can
// exceed that on new rows.
//
// The cost is O(stores items + pairs months).
package synthetic

import (
	"bufio"
	"io"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// Options defines the size of a table.
type Options struct {
	Stores, Items, Months int
	Pairs                 int // average number of stocked store-item pairs
	Seed                  uint64
}

// Default returns the size of the demonstration: about a quarter of a million rows.
func Default(seed uint64) Options {
	return Options{Stores: 400, Items: 1500, Months: 24, Pairs: 30000, Seed: seed}
}

// Standard deviations of the truth on the logarithmic scale.
const (
	level      = 0.6
	storeSD    = 0.4
	itemSD     = 0.5
	trainSD    = 0.4
	pairSD     = 0.4
	noiseSD    = 0.45
	trainRank  = 3
	firstYear  = 2023
	storePower = 0.5 // size ~ rank^-power
	itemPower  = 0.7
)

// A Table holds the rows, sorted by month, store and item, and their truth.
type Table struct {
	Store, Item, Month []int32
	Units              []int32
	Level              []float64 // f of each row
}

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.Units) }

// pair is a stocked store-item pair: the part of f that does not depend on the
// month, and u(store)' V(item).
type pair struct {
	store, item int32
	level       float64
	time        [trainRank]float64
}

// New generates a table. The same options give the same table.
func New(opt Options) *Table {
	if opt.Stores < 1 || opt.Items < 1 || opt.Months < 1 || opt.Pairs < 1 {
		panic("synthetic: sizes must be at least 1")
	}
	pairs := drawPairs(opt)
	months := monthCore(opt.Months)
	sells := randstream.New(opt.Seed, "synthetic sells")
	noise := randstream.New(opt.Seed, "synthetic noise")
	t := &Table{}
	for month, w := range months {
		for i := range pairs {
			p := &pairs[i]
			f := p.level
			for r, v := range w {
				f += p.time[r] * v
			}
			if sells.Float64() > 1/(1+math.Exp(2-f)) {
				continue
			}
			t.Store = append(t.Store, p.store)
			t.Item = append(t.Item, p.item)
			t.Month = append(t.Month, int32(month))
			t.Level = append(t.Level, f)
			t.Units = append(t.Units, int32(math.Ceil(math.Exp(f+noiseSD*noise.NormFloat64()))))
		}
	}
	return t
}

// drawPairs draws the stocked pairs, by store and then item.
func drawPairs(opt Options) []pair {
	stores := powerLaw(randstream.New(opt.Seed, "synthetic stores"), opt.Stores, storePower)
	items := powerLaw(randstream.New(opt.Seed, "synthetic items"), opt.Items, itemPower)
	storeEffect, itemEffect := standardLog(stores, storeSD), standardLog(items, itemSD)
	u := draw(randstream.New(opt.Seed, "synthetic store core"), opt.Stores*trainRank, 1)
	// Each of the 9 products of u and V contributes equally to the variance.
	v := draw(randstream.New(opt.Seed, "synthetic item core"), opt.Items*trainRank*trainRank, trainSD/trainRank)
	stocked := randstream.New(opt.Seed, "synthetic stocked")
	effects := randstream.New(opt.Seed, "synthetic pairs")
	share := float64(opt.Pairs) / (sum(stores) * sum(items))
	var pairs []pair
	for s := range opt.Stores {
		for i := range opt.Items {
			if stocked.Float64() > share*stores[s]*items[i] {
				continue
			}
			p := pair{store: int32(s), item: int32(i), level: level + storeEffect[s] + itemEffect[i] + pairSD*effects.NormFloat64()}
			for k := range trainRank {
				for r := range trainRank {
					p.time[r] += u[s*trainRank+k] * v[(i*trainRank+k)*trainRank+r]
				}
			}
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// monthCore returns the last core of the train: a trend and a yearly season.
func monthCore(months int) [][trainRank]float64 {
	core := make([][trainRank]float64, months)
	for t := range core {
		angle := 2 * math.Pi * float64(t) / 12
		trend := (2*float64(t)+1)/float64(months) - 1
		core[t] = [trainRank]float64{math.Sqrt(3) * trend, math.Sqrt2 * math.Cos(angle), math.Sqrt2 * math.Sin(angle)}
	}
	return core
}

// powerLaw returns rank^-power in random order.
func powerLaw(r *rand.Rand, n int, power float64) []float64 {
	size := make([]float64, n)
	for i := range size {
		size[i] = math.Pow(float64(i+1), -power)
	}
	r.Shuffle(n, func(i, j int) { size[i], size[j] = size[j], size[i] })
	return size
}

// standardLog returns the logarithms, shifted and scaled to mean 0 and the given
// standard deviation.
func standardLog(size []float64, sd float64) []float64 {
	out := make([]float64, len(size))
	mean, square := 0.0, 0.0
	for i, v := range size {
		out[i] = math.Log(v)
		mean += out[i] / float64(len(size))
	}
	for _, v := range out {
		square += (v - mean) * (v - mean) / float64(len(size))
	}
	for i := range out {
		out[i] = (out[i] - mean) * sd / math.Sqrt(max(square, 1e-300))
	}
	return out
}

func draw(r *rand.Rand, n int, sd float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = sd * r.NormFloat64()
	}
	return out
}

func sum(values []float64) (total float64) {
	for _, v := range values {
		total += v
	}
	return total
}

// WriteCSV writes the table with the columns year, month, store, item and
// units. Ids are strings: S017, A0421.
func (t *Table) WriteCSV(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	out.WriteString("year,month,store,item,units\n")
	var line []byte
	for k, units := range t.Units {
		line = strconv.AppendInt(line[:0], firstYear+int64(t.Month[k]/12), 10)
		line = append(line, ',')
		line = strconv.AppendInt(line, int64(t.Month[k]%12)+1, 10)
		line = append(line, ",S"...)
		line = appendPadded(line, t.Store[k]+1, 3)
		line = append(line, ",A"...)
		line = appendPadded(line, t.Item[k]+1, 4)
		line = append(line, ',')
		line = strconv.AppendInt(line, int64(units), 10)
		line = append(line, '\n')
		out.Write(line)
	}
	return out.Flush()
}

func appendPadded(dst []byte, v int32, digits int) []byte {
	text := strconv.Itoa(int(v))
	for range digits - len(text) {
		dst = append(dst, '0')
	}
	return append(dst, text...)
}
