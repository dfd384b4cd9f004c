package noisemodel

import (
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/likelihood"
)

// The noise of rows that are looked up together is that of single rows, in any order of
// visits.
func TestRowNoise(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	codes := make([][]int32, 2)
	for m := range codes {
		for range 1000 {
			codes[m] = append(codes[m], int32(rng.IntN(12))-1) // the last and -1 are unknown
		}
	}
	factors := func() likelihood.ModeFactors {
		f := likelihood.ModeFactors{Unseen: 1.5}
		for range 10 {
			f.ByCode = append(f.ByCode, rng.ExpFloat64())
		}
		return f
	}
	n := &Noise{
		Power:    &likelihood.Power{Scale: 2, Exponent: 1.2, Floor: .1},
		Entity:   &likelihood.ByEntity{Variance: 3, Modes: []likelihood.ModeFactors{factors(), factors()}},
		Entities: []EntityIndex{ModeCode(1), ModeCode(0)},
	}
	for _, found := range [][][]int32{nil, {nil, codes[0]}, {codes[1], codes[0]}} {
		level := func(i int) float64 { return float64(i%7) / 3 }
		rows := n.Rows(codes, found, level)
		visit := func(i int) {
			if got, want := rows.UnitVariance(i), n.UnitVariance(level(i), codes, i); got != want {
				t.Fatalf("row %d, %d found: got %v, want %v", i, len(found), got, want)
			}
		}
		for i := range 1000 {
			visit(i)
		}
		for range 100 {
			visit(rng.IntN(1000))
		}
		for i := 999; i >= 0; i-- {
			visit(i)
		}
	}
}
