package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/kernel-fried-tensor/kft"
)

// A truth describes simulated tables: an offset, effects of the ids and a train of rank 2
// over stores, items and periods, with normal noise.
type truth struct {
	stores, items, periods int
	share                  float64 // of the cells that are in the table
	offset, effects, noise float64 // effects is a standard deviation
	log                    bool    // the target is exp(f) - minus, with 0.3 times the train
	minus                  float64
	weighted               bool    // rows have weights .1, 1 and 10
	cold                   float64 // share of the stores and of the items without rows in the table
}

// A table is a simulated table and the cells that it lacks.
type table struct {
	source  kft.Source
	cells   []cell // not in the table
	options []kft.Cell
}

// A cell is a cell that is to be predicted.
type cell struct {
	id     [3]int
	weight float64
	cold   bool // store and item have no rows in the table
	y      float64
}

var modes = [3]string{"s", "i", "t"}

// draw simulates a table.
func (g truth) draw(seed uint64) (table, error) {
	rng := rand.New(rand.NewPCG(seed, 12))
	pairs := func(n int, mean, sd float64) [][3]float64 {
		v := make([][3]float64, n)
		for i := range v {
			v[i] = [3]float64{mean + sd*rng.NormFloat64(), mean + sd*rng.NormFloat64(), g.effects * rng.NormFloat64()}
		}
		return v
	}
	a, b, c := pairs(g.stores, 0, 1), pairs(g.items, 0, 1), pairs(g.periods, 1, .5)
	var ids [3][]string
	var y, w []float64
	var t table
	for s := range g.stores {
		for i := range g.items {
			for p := range g.periods {
				f := a[s][0]*b[i][0]*c[p][0] + a[s][1]*b[i][1]*c[p][1]
				if g.log {
					f *= .3
				}
				f += g.offset + a[s][2] + b[i][2] + c[p][2]
				weight := 1.0
				if g.weighted {
					weight = []float64{.1, 1, 10}[rng.IntN(3)]
				}
				value := f + g.noise/math.Sqrt(weight)*rng.NormFloat64()
				if g.log {
					value = math.Exp(value) - g.minus
				}
				coldStore, coldItem := float64(s) >= float64(g.stores)*(1-g.cold), float64(i) >= float64(g.items)*(1-g.cold)
				if rng.Float64() < g.share && !coldStore && !coldItem {
					for m, id := range []int{s, i, p} {
						ids[m] = append(ids[m], name(m, id))
					}
					y, w = append(y, value), append(w, weight)
					continue
				}
				t.cells = append(t.cells, cell{id: [3]int{s, i, p}, weight: weight, cold: coldStore && coldItem, y: value})
				one := kft.Cell{}
				for m, id := range []int{s, i, p} {
					one[modes[m]] = name(m, id)
				}
				if g.weighted {
					one["w"] = fmt.Sprint(weight)
				}
				t.options = append(t.options, one)
			}
		}
	}
	columns := []kft.Column{kft.FloatColumn("y", y)}
	for m := range modes {
		columns = append(columns, kft.StringColumn(modes[m], ids[m]))
	}
	if g.weighted {
		columns = append(columns, kft.FloatColumn("w", w))
	}
	var err error
	t.source, err = kft.Columns(columns...)
	return t, err
}

func name(mode, id int) string { return fmt.Sprint(modes[mode], id) }
