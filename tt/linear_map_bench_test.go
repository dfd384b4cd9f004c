package tt_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// The regression of an effect of two modes with side information, of which a twentieth of the combinations occur.
func BenchmarkLinearMapOfPairs(b *testing.B) {
	const stores, items, pairs, columns = 1500, 4500, 350_000, 128
	rng := rand.New(rand.NewPCG(1, 2))
	codes := [][]int32{make([]int32, pairs), make([]int32, pairs)}
	for i := range codes[0] {
		codes[0][i], codes[1][i] = rng.Int32N(stores), rng.Int32N(items)
	}
	x, err := entity.NewIndex([]int{0, 1}, []int{stores, items}, codes)
	if err != nil {
		b.Fatal(err)
	}
	m, err := regression.NewLinearMap(x, []regression.Operator{normal(rng, stores, columns), normal(rng, items, columns)}, 1)
	if err != nil {
		b.Fatal(err)
	}
	w, t := normal(rng, m.Weights(), 1).a, make([]float32, x.Entities())
	for _, threads := range []int{1, 2} {
		be := cpu.New(cpu.Paths()[0], threads)
		b.Run(fmt.Sprintf("apply/threads=%d", threads), func(b *testing.B) {
			for b.Loop() {
				m.Apply(be, t, w, false)
			}
		})
		b.Run(fmt.Sprintf("adjoint/threads=%d", threads), func(b *testing.B) {
			for b.Loop() {
				m.Adjoint(be, w, t, false)
			}
		})
	}
}
