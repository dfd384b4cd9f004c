package backendtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
)

// OnRanks runs work on goroutines that take the place of the processes of a job.
func OnRanks(size int, work func(r backend.Ranks)) {
	j := &job{data: make([][]byte, size), barrier: newBarrier(size), links: make([]chan []byte, size*size)}
	for i := range j.links {
		j.links[i] = make(chan []byte)
	}
	var all sync.WaitGroup
	for rank := range size {
		all.Go(func() { work(&member{j, rank}) })
	}
	all.Wait()
}

// job is what the goroutines share.
type job struct {
	data    [][]byte // by rank: the argument of a collective call
	links   []chan []byte
	barrier *barrier
}

type member struct {
	*job
	rank int
}

func (m *member) Rank() int { return m.rank }
func (m *member) Size() int { return len(m.data) }

// together calls read on all ranks once each has published its data.
func (m *member) together(data []byte, read func()) {
	m.data[m.rank] = data
	m.barrier.wait()
	read()
	m.barrier.wait()
}

func (m *member) Broadcast(data []byte, root int) {
	m.together(data, func() {
		if m.rank != root {
			copy(data, m.data[root])
		}
	})
}

func (m *member) Gather(data []byte, bounds []int) {
	m.together(data, func() {
		for r, from := range m.data {
			if r != m.rank {
				copy(data[bounds[r]:bounds[r+1]], from[bounds[r]:bounds[r+1]])
			}
		}
	})
}

func (m *member) Send(data []byte, to int) { m.links[m.rank*m.Size()+to] <- slices.Clone(data) }

func (m *member) Receive(data []byte, from int) { copy(data, <-m.links[from*m.Size()+m.rank]) }

func (m *member) Exchange(send, received []byte, sent, taken []int) {
	var wait sync.WaitGroup
	for r := range m.Size() {
		if r != m.rank {
			wait.Go(func() { m.Send(send[sent[r]:sent[r+1]], r) })
		}
	}
	copy(received[taken[m.rank]:taken[m.rank+1]], send[sent[m.rank]:sent[m.rank+1]])
	for r := range m.Size() {
		if r != m.rank {
			m.Receive(received[taken[r]:taken[r+1]], r)
		}
	}
	wait.Wait()
}

// barrier lets goroutines wait for each other.
type barrier struct {
	sync.Mutex
	arrived, size, round int
	moved                *sync.Cond
}

func newBarrier(size int) *barrier {
	b := &barrier{size: size}
	b.moved = sync.NewCond(b)
	return b
}

func (b *barrier) wait() {
	b.Lock()
	defer b.Unlock()
	round := b.round
	if b.arrived++; b.arrived == b.size {
		b.arrived = 0
		b.round++
		b.moved.Broadcast()
		return
	}
	for b.round == round {
		b.moved.Wait()
	}
}

// RunRanks tests that a backend gives the same bits on any number of ranks.
func RunRanks(t *testing.T, open func(ranks backend.Ranks) backend.Backend) {
	cases := []Case{
		{"effect", []int{700}, nil, 70000},
		{"effect of few", []int{2}, nil, 70000},
		{"matrix", []int{300, 24}, []int{4}, 40000},
		{"matrix of many", []int{9000, 40}, []int{3}, 40000},
		{"three", []int{40, 60, 24}, []int{8, 8}, 40000},
		{"three odd ranks", []int{40, 24, 60}, []int{5, 19}, 40000},
		{"four", []int{12, 9, 14, 6}, []int{4, 8, 3}, 40000},
		{"small", []int{12, 9, 14}, []int{4, 8}, 400},
	}
	for _, c := range cases {
		p := c.Make(7)
		for _, leaf := range []backend.LeafEnd{backend.LeafFirst, backend.LeafLast} {
			plan := backend.NewPlan(p.Shapes, p.Index, leaf)
			plan.ByLeaf(2) // the goroutines share it
			t.Run(fmt.Sprintf("%s/leaf%d", c.Name, leaf), func(t *testing.T) {
				want := results(open(nil), p, plan)
				for _, size := range []int{2, 3, 8} {
					OnRanks(size, func(r backend.Ranks) {
						if got := results(open(r), p, plan); !slices.Equal(got, want) {
							t.Errorf("rank %d of %d: %d of %d numbers have other bits than those of one process", r.Rank(), size, different(got, want), len(want))
						}
					})
				}
			})
		}
	}
}

func different(got, want []float64) (n int) {
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			n++
		}
	}
	return n
}

// results returns what the methods of a backend compute, as one list of numbers.
func results(b backend.Backend, p Problem, plan *backend.Plan) (all []float64) {
	add := func(lists ...[]float32) {
		for _, l := range lists {
			for _, v := range l {
				all = append(all, float64(v))
			}
		}
	}
	rng := rand.New(rand.NewPCG(11, 13))
	cores := slices.Clone(p.Cores)
	for i := range cores {
		cores[i].Var = make([]float32, len(cores[i].Mean))
		for k := range cores[i].Var {
			cores[i].Var[k] = rng.Float32()
		}
	}
	for _, secondMoments := range []bool{false, true} {
		for _, weight := range [][]float32{nil, p.Weight} {
			job := &backend.Job{Adjoint: backend.Residual, SecondMoments: secondMoments, Target: p.Target, Weight: weight, Mean: make([]float32, plan.Cells())}
			for i, c := range cores {
				g := backend.Slices{Shape: c.Shape, Mean: make([]float32, c.Len())}
				if secondMoments {
					g.Var = make([]float32, c.Len())
					if plan.HasCovariances(i, cores) {
						g.Cov = make([]float32, c.Len()*c.Slice())
					}
				}
				job.Grad = append(job.Grad, g)
			}
			if secondMoments {
				job.Var = make([]float32, plan.Cells())
			}
			all = append(all, b.Pass(plan, cores, job))
			add(job.Mean, job.Var)
			for _, g := range job.Grad {
				add(g.Mean, g.Var, g.Cov)
			}
		}
	}
	leaf := backend.NewSlices(cores[plan.Leaf].Shape)
	if leaf.Cov = make([]float32, leaf.Len()*leaf.Slice()); plan.HasCovariances(plan.Leaf, cores) {
		grad := make([]backend.Slices, len(cores))
		grad[plan.Leaf] = leaf
		b.Pass(plan, cores, &backend.Job{Adjoint: backend.Residual, SecondMoments: true, GradientsOnly: true, Target: p.Target, Weight: p.Weight, Grad: grad})
		add(leaf.Mean, leaf.Cov)
	}
	if len(cores) == 3 {
		if m := p.equations(b, plan, cores, p.Target, p.Weight, cores[1].Var); m != nil {
			add(m.gradient, m.diagonal, m.product)
		}
	}
	r := plan.LeafRank()
	sums := make([]float32, p.Shapes[plan.Leaf].N*(r*r+r))
	b.NormalEquations(plan, p.Cores, p.Target, p.Weight, func(_, e int, gram, rhs []float64) {
		for i, v := range slices.Concat(gram, rhs) {
			sums[e*(r*r+r)+i] = float32(v)
		}
	})
	backend.ShareEntities(b, plan, sums, r*r+r, 0)
	add(sums)
	return all
}
