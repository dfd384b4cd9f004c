package cpu_test

import (
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
)

// BenchmarkParts measures passes with second moments over a table of the kind of the paper's
// largest one: few stores, many articles, 36 months, rank 10.
func BenchmarkParts(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const stores, articles, times = 20, 463_763, 36
	index := make([][]int32, 3)
	for s := range stores {
		for a := range articles {
			if r.Float64() > 0.19 {
				continue
			}
			for m := range times {
				if r.Float64() < 0.1 {
					index[0], index[1], index[2] = append(index[0], int32(a)), append(index[1], int32(s)), append(index[2], int32(m))
				}
			}
		}
	}
	n := len(index[0])
	shapes := []backend.Shape{{N: articles + 1, Left: 1, Right: 10}, {N: stores + 1, Left: 10, Right: 10}, {N: times + 1, Left: 10, Right: 1}}
	var cores []backend.Slices
	for _, s := range shapes {
		c := backend.NewSlices(s)
		c.Var = make([]float32, s.Len())
		for i := range c.Mean {
			c.Mean[i], c.Var[i] = float32(r.NormFloat64()), 0.1
		}
		cores = append(cores, c)
	}
	engine := cpu.New(cpu.Paths()[0], 1)
	plan := backend.NewPlanOn(engine, 1, shapes, index, backend.LeafFirst)
	target := make([]float32, n)
	for core, name := range []string{"article", "store", "time"} {
		job := &backend.Job{Adjoint: backend.Product, GradientsOnly: true, SecondMoments: true, Grad: make([]backend.Slices, 3)}
		job.Grad[core] = backend.NewSlices(shapes[core])
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				engine.Pass(plan, cores, job)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/cell")
		})
	}
	b.Run("values", func(b *testing.B) {
		job := &backend.Job{Mean: target, SecondMoments: true, Var: make([]float32, n)}
		for b.Loop() {
			engine.Pass(plan, cores, job)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/cell")
	})
}
