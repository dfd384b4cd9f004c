package cpu

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/backend"
)

// salesIndex draws cells like those of a table of sales by store, item and
// month: an item is sold for some months in some stores, but not in all of them
// every month.
func salesIndex(stores, items, months int) (index [3][]int32) {
	rng := rand.New(rand.NewPCG(4, 5))
	for item := range items {
		sold := rng.Perm(stores)[:1+int(0.27*float64(stores)*rng.Float64()*rng.Float64())]
		span := 1 + rng.IntN(months-3)
		first := rng.IntN(months - span + 1)
		for month := first; month < first+span; month++ {
			for _, store := range sold {
				if rng.Float64() < 0.36 {
					index[0] = append(index[0], int32(store))
					index[1] = append(index[1], int32(item))
					index[2] = append(index[2], int32(month))
				}
			}
		}
	}
	return index
}

// drawn returns random slices with variances.
func drawn(rng *rand.Rand, s backend.Shape) backend.Slices {
	c := backend.NewSlices(s)
	c.Var = make([]float32, s.Len())
	for i := range c.Mean {
		c.Mean[i], c.Var[i] = float32(rng.NormFloat64()), rng.Float32()
	}
	return c
}

type momentBench struct {
	plan   *backend.Plan
	cores  []backend.Slices
	target []float32
}

func newMomentBench(leaf backend.LeafEnd, index [][]int32, shapes ...backend.Shape) momentBench {
	rng := rand.New(rand.NewPCG(8, 9))
	m := momentBench{plan: backend.NewPlan(shapes, index, leaf)}
	for _, s := range shapes {
		m.cores = append(m.cores, drawn(rng, s))
	}
	m.target = make([]float32, m.plan.Cells())
	for i := range m.target {
		m.target[i] = float32(rng.NormFloat64())
	}
	return m
}

// job requests the gradients that want names: m means, v variances of all
// cores, i both of the inner core, l both of the leaf core, c the leaf core's
// covariances.
func (m momentBench) job(want string) *backend.Job {
	job := &backend.Job{SecondMoments: true, Adjoint: backend.Residual, Target: m.target, Grad: make([]backend.Slices, len(m.cores))}
	for i, c := range m.cores {
		g := &job.Grad[i]
		g.Shape = c.Shape
		for _, w := range want {
			mine := w == 'i' && i == 1 || w == 'l' && i == m.plan.Leaf
			if w == 'm' || mine {
				g.Mean = make([]float32, c.Len())
			}
			if w == 'v' || mine {
				g.Var = make([]float32, c.Len())
			}
			if w == 'c' && i == m.plan.Leaf {
				g.Cov = make([]float32, c.Len()*c.Slice())
			}
		}
	}
	return job
}

// run reports the fastest iteration, because other work on the machine only
// adds time, and the CPU time per iteration if the system provides it.
func (m momentBench) run(b *testing.B, job *backend.Job) {
	back := New(Paths()[0], 2)
	back.Pass(m.plan, m.cores, job)
	best, used, turns := time.Hour, processorTime(), 0
	for b.Loop() {
		start := time.Now()
		back.Pass(m.plan, m.cores, job)
		best = min(best, time.Since(start))
		turns++
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(best.Seconds()*1e3, "best-ms")
	b.ReportMetric((processorTime()-used).Seconds()*1e3/float64(turns), "cpu-ms")
}

// processorTime returns the CPU time of the process, with a resolution of 10
// ms; 0 if it is not available.
func processorTime() time.Duration {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	ticks := 0
	for _, f := range fields[11:13] { // user and system
		n, _ := strconv.Atoi(f)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// BenchmarkMoments runs passes with second moments over three cores, with as
// many cells as the sales of one state, and over two cores, one of which has an
// entity for every pair of store and item.
func BenchmarkMoments(b *testing.B) {
	index := salesIndex(1507, 4563, 24)
	for _, r := range []int{12, 20, 30, 60} {
		m := newMomentBench(backend.LeafFirst, index[:], backend.Shape{Left: 1, N: 1507, Right: r}, backend.Shape{Left: r, N: 4563, Right: r}, backend.Shape{Left: r, N: 24, Right: 1})
		for _, want := range []string{"", "mv", "l", "i", "c"} {
			b.Run(fmt.Sprintf("three/r=%d/want=%s", r, want), func(b *testing.B) { m.run(b, m.job(want)) })
		}
		for i := range m.cores {
			if c := &m.cores[i]; i != 1 {
				c.Cov, c.Var = make([]float32, c.Len()*r), nil
				for k := range c.Cov {
					c.Cov[k] = 0.01
				}
			}
		}
		for _, want := range []string{"l", "c"} {
			b.Run(fmt.Sprintf("covariances/r=%d/want=%s", r, want), func(b *testing.B) { m.run(b, m.job(want)) })
		}
	}
	pairs := map[[2]int32]int32{}
	joint := make([]int32, len(index[0]))
	for c := range joint {
		key := [2]int32{index[0][c], index[1][c]}
		at, ok := pairs[key]
		if !ok {
			at = int32(len(pairs))
			pairs[key] = at
		}
		joint[c] = at
	}
	for _, r := range []int{2, 5} {
		for _, leaf := range []backend.LeafEnd{backend.LeafFirst, backend.LeafLast} {
			m := newMomentBench(leaf, [][]int32{joint, index[2]}, backend.Shape{Left: 1, N: len(pairs), Right: r}, backend.Shape{Left: r, N: 24, Right: 1})
			for _, want := range []string{"", "mv", "l", "c"} {
				b.Run(fmt.Sprintf("joint/r=%d/leaf=%d/want=%s", r, leaf, want), func(b *testing.B) { m.run(b, m.job(want)) })
			}
		}
	}
}
