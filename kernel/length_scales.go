package kernel

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
)

// maxSampledRows is the number of rows from which a median distance is
// computed.
const maxSampledRows = 200

// InitLengthScales sets every length-scale of k to the median distance between
// rows, over the columns of the base kernel and over those pairs of up to 200
// distinct rows that differ there. With one length-scale per column all start
// at the same value, which gives the kernel with a single length-scale. If all
// rows are equal, the length-scales are 1.
//
// The rows are selected by a hash of the seed and their content, so the result
// does not depend on their order.
func InitLengthScales(k Kernel, x Rows, seed uint64) {
	x.check("rows")
	sample := sampleRows(x, seed)
	for _, b := range k.bases() {
		b.mustBeBound()
		length := medianDistance(b, sample)
		for p := range b.logLength {
			b.logLength[p] = math.Log(length)
		}
	}
}

// sampleRows returns up to maxSampledRows distinct rows, those with the
// smallest hash.
func sampleRows(x Rows, seed uint64) [][]float32 {
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
		sum := mixBits(h.Sum64())
		if len(kept) == maxSampledRows && sum >= kept[maxSampledRows-1].hash {
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
		kept = kept[:min(len(kept), maxSampledRows)]
	}
	rows := make([][]float32, len(kept))
	for i, h := range kept {
		rows[i] = h.row
	}
	return rows
}

// mixBits spreads a hash over all bits, because rows are ordered by it.
func mixBits(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

func medianDistance(b *base, rows [][]float32) float64 {
	one := slices.Repeat([]float64{1}, b.width())
	points := make([][]float32, len(rows))
	for i, row := range rows {
		points[i] = make([]float32, len(one))
		embed(b, points[i], row, one)
	}
	var all []float32
	for i := range points {
		for j := range i {
			if d := squaredDistance(points[i], points[j]); d > 1e-12 {
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
