package update

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/cholesky"
	"github.com/kernel-fried-tensor/kft/tt"
)

// TestRelax checks that blocks reach the solution of the joint system, whatever the order
// in which rows come, and that a negative precision takes a row out of a block.
func TestRelax(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 40
	sizes := []int{2, 1, 3, 1, 2}
	total := 0
	for _, r := range sizes {
		total += r
	}
	slots := make([]*slot, len(sizes))
	for k, r := range sizes {
		prior := make([]float64, r*r)
		for i := range r {
			for j := range r {
				prior[i*r+j] = 0.1
			}
			prior[i*r+i] = 1 + rng.Float64()
		}
		slots[k] = &slot{block: &block{r: r}, prior: prior, info: make([]float64, r*r), delta: make([]float64, r), stale: true}
	}
	st := &state{}
	a, b := make([]float64, total*total), make([]float64, total)
	at := 0
	for _, s := range slots {
		r := s.block.r
		for i := range r {
			for j := range r {
				a[(at+i)*total+at+j] = s.prior[i*r+j]
			}
		}
		at += r
	}
	for row := range int32(n) {
		y, w := rng.NormFloat64(), 0.5+rng.Float64()
		st.target, st.mean, st.moved, st.weight = append(st.target, y), append(st.mean, 0), append(st.moved, 0), append(st.weight, w)
		whole := make([]float64, total)
		at := 0
		for k, s := range slots {
			r := s.block.r
			if (int(row)+k)%3 != 0 { // each row touches some of the blocks
				d := design{x: make([]float64, r), c: make([]float64, r*r)}
				for i := range r {
					d.x[i] = rng.NormFloat64()
					d.c[i*r+i] = 0.1
					whole[at+i] = d.x[i]
					a[(at+i)*total+at+i] += 0.1 * w
				}
				s.rows = append(s.rows, slotRow{row, d.x})
				s.add(w, d)
			}
			at += r
		}
		for i, x := range whole {
			b[i] += w * x * y
			for j, z := range whole {
				a[i*total+j] += w * x * z
			}
		}
	}
	if !cholesky.Factor(a, total) {
		t.Fatal("the joint system is singular")
	}
	cholesky.Solve(a, total, b)
	for _, reverse := range []bool{false, true} {
		var blocks []mover
		for k := range slots {
			s := slots[k]
			if reverse {
				s = slots[len(slots)-1-k]
			}
			clear(s.delta)
			blocks = append(blocks, s)
		}
		clear(st.moved)
		if err := st.relax(blocks, mostPasses); err != nil {
			t.Fatal(err)
		}
		at := 0
		for k, s := range slots {
			for i, d := range s.delta {
				if math.Abs(d-b[at+i]) > 1e-4 {
					t.Errorf("block %d, weight %d: got %.6f, want %.6f", k, i, d, b[at+i])
				}
			}
			at += s.block.r
		}
	}
	single := &slot{block: &block{r: 1}, prior: []float64{3}, info: make([]float64, 1), delta: make([]float64, 1), stale: true}
	st = &state{target: []float64{1}, mean: []float64{0.25}, moved: []float64{0}, weight: []float64{-1}}
	single.rows = []slotRow{{0, []float64{1}}}
	single.add(-1, design{x: []float64{1}})
	if err := st.relax([]mover{single}, 5); err != nil || math.Abs(single.delta[0]+0.375) > 1e-12 { // (3 - 1) d = -(1 - 0.25)
		t.Errorf("got %v, %v, want a move of -0.375", single.delta, err)
	}
	single.add(-5, design{x: []float64{1}})
	if err := st.relax([]mover{single}, 5); err == nil {
		t.Error("got no error for a precision below 0")
	}
}

// TestDesign compares the moments of the product of the other cores with those of draws.
func TestDesign(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	const r1, r2 = 3, 2
	shapes := []backend.Shape{{Left: 1, N: 1, Right: r1}, {Left: r1, N: 1, Right: r2}, {Left: r2, N: 1, Right: 1}}
	train := &tt.Train{}
	for _, shape := range shapes {
		s := backend.NewSlices(shape)
		s.Var = make([]float32, shape.Len())
		for i := range s.Mean {
			s.Mean[i], s.Var[i] = float32(rng.NormFloat64()), float32(0.2*rng.Float64())
		}
		train.Cores = append(train.Cores, &tt.Core{Slices: s})
	}
	const draws = 200_000
	for _, core := range []int{0, 2} {
		got := designOf(train, []int32{0, 0, 0}, core)
		r := len(got.x)
		mean, square := make([]float64, r), make([]float64, r*r)
		for range draws {
			draw := func(c int) []float64 {
				s := train.Cores[c].Slices
				out := make([]float64, len(s.Mean))
				for i := range out {
					out[i] = float64(s.Mean[i]) + math.Sqrt(float64(s.Var[i]))*rng.NormFloat64()
				}
				return out
			}
			middle, end := draw(1), draw(2-core)
			x := make([]float64, r)
			for i := range r1 {
				for j := range r2 {
					if core == 0 {
						x[i] += middle[i*r2+j] * end[j]
					} else {
						x[j] += middle[i*r2+j] * end[i]
					}
				}
			}
			for i := range x {
				mean[i] += x[i] / draws
				for j := range x {
					square[i*r+j] += x[i] * x[j] / draws
				}
			}
		}
		for i := range r {
			if math.Abs(mean[i]-got.x[i]) > 0.02 {
				t.Errorf("core %d: mean %d is %.3f, draws have %.3f", core, i, got.x[i], mean[i])
			}
			for j := range r {
				if c := square[i*r+j] - mean[i]*mean[j]; math.Abs(c-got.c[i*r+j]) > 0.03 {
					t.Errorf("core %d: covariance %d,%d is %.3f, draws have %.3f", core, i, j, got.c[i*r+j], c)
				}
			}
		}
	}
}
