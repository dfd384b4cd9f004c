// Package datasettest makes tables and files for tests and benchmarks.
package datasettest

import (
	"math/rand/v2"
	"strconv"
)

// SalesText returns a CSV table with the shape of monthly sales: columns year,
// month, store, item and bottles, sorted in that order, each cell at most once. It
// costs as much to read as a real table with the same number of rows.
func SalesText(rows int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 0x7461626c65)) // "table"
	text := make([]byte, 0, 22*rows+64)
	text = append(text, "year,month,store,item,bottles\n"...)
	stores, items := 40+rows/3000, 38+rows/1000
	month, store, item := 0, 0, -1
	for range rows {
		item += 1 + int(r.ExpFloat64()*0.05)
		if item >= items {
			item = 0
			store++
			if store == stores {
				store = 0
				month++
			}
		}
		text = strconv.AppendInt(text, int64(2015+month/12), 10)
		text = append(text, ',')
		text = strconv.AppendInt(text, int64(1+month%12), 10)
		text = append(text, ',')
		text = strconv.AppendInt(text, int64(2106+store*3), 10)
		text = append(text, ',')
		text = strconv.AppendInt(text, int64(10550+item*7), 10)
		text = append(text, ',')
		text = strconv.AppendInt(text, int64(1+r.ExpFloat64()*11), 10)
		text = append(text, '\n')
	}
	return text
}
