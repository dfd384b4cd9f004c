package kernel

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
)

// sampled is how many rows a median distance is taken from.
const sampled = 200

// Start sets every length-scale of k to the median distance between rows, over
// the base kernel's own columns and over the pairs, of up to 200 distinct rows,
// that differ there. With a length-scale a column all start at the same value,
// which is the kernel with one. Rows that are all alike leave 1.
//
// The seed picks the rows by what they hold, so that their order does not matter.
func Start(k Kernel, x Rows, seed uint64) {
	x.check("rows")
	sample := pick(x, seed)
	for _, b := range k.bases() {
		b.mustBeBound()
		length := median(b, sample)
		for p := range b.length {
			b.length[p] = math.Log(length)
		}
	}
}

// pick returns up to sampled distinct rows, those of smallest hash.
func pick(x Rows, seed uint64) [][]float32 {
	type hashed struct {
		hash uint64
		row  []float32
	}
	var kept []hashed
	bytes := make([]byte, 8+4*x.C)
	binary.LittleEndian.PutUint64(bytes, seed)
	for i := range x.N {
		row := x.X[i*x.C : (i+1)*x.C]
		for c, v := range row {
			binary.LittleEndian.PutUint32(bytes[8+4*c:], math.Float32bits(v))
		}
		h := fnv.New64a()
		h.Write(bytes)
		sum := mix(h.Sum64())
		if len(kept) == sampled && sum >= kept[sampled-1].hash {
			continue
		}
		at, found := slices.BinarySearchFunc(kept, sum, func(a hashed, b uint64) int {
			switch {
			case a.hash < b:
				return -1
			case a.hash > b:
				return 1
			}
			return 0
		})
		if found {
			continue
		}
		kept = slices.Insert(kept, at, hashed{sum, row})
		kept = kept[:min(len(kept), sampled)]
	}
	rows := make([][]float32, len(kept))
	for i, h := range kept {
		rows[i] = h.row
	}
	return rows
}

// mix spreads a hash over all bits, since rows are ordered by it.
func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

func median(b *base, rows [][]float32) float64 {
	one := slices.Repeat([]float64{1}, b.width())
	points := make([][]float32, len(rows))
	for i, row := range rows {
		points[i] = make([]float32, len(one))
		embed(b, points[i], row, one)
	}
	var all []float32
	for i := range points {
		for j := range i {
			if d := difference(points[i], points[j]); d > 1e-12 {
				all = append(all, d)
			}
		}
	}
	if len(all) == 0 {
		return 1
	}
	slices.Sort(all)
	return math.Sqrt(float64(all[len(all)/2]))
}
