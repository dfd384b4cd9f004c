package collective

import (
	"math"
	"time"

	"github.com/kernel-fried-tensor/kft/backend"
)

// Traffic is what passed between ranks.
type Traffic struct {
	Bytes   int64   `json:"bytes"`         // received, summed over the ranks
	Wall    float64 `json:"wall_seconds"`  // that passed on rank 0
	Seconds float64 `json:"seconds"`       // of them in messages and in waiting for others
	Least   float64 `json:"least_seconds"` // those of the rank that waits least, whose work takes longest: an upper bound of the time of the messages alone
	CPU     float64 `json:"cpu_seconds"`   // the CPU time of that, summed over the ranks
	Work    float64 `json:"work_cpu"`      // the CPU time of all else, summed over the ranks
	Longest float64 `json:"longest_cpu"`   // that of the rank with most of it
}

// Communication is what passed between the ranks of a fit.
type Communication struct {
	Ranks  int       `json:"ranks"`
	Sweeps []Traffic `json:"sweeps"` // by sweep of the solver, as the history of the record
	Fit    Traffic   `json:"fit"`    // with planning and checkpoints
}

// A Meter reads the traffic of this process at the ends of sweeps.
type Meter struct {
	bytes           []int64
	calls, cpu, all []time.Duration
	wall            []time.Time
}

// Read reads the traffic, at the start, at the ends of sweeps and at the end.
func (t *Meter) Read(ranks Ranks) {
	if ranks == nil {
		return
	}
	bytes, calls, cpu, all := ranks.Traffic()
	t.bytes, t.calls, t.cpu, t.all = append(t.bytes, bytes), append(t.calls, calls), append(t.cpu, cpu), append(t.all, all)
	t.wall = append(t.wall, time.Now())
}

// Sum returns the traffic of all ranks, nil without ranks. The first reading is that of the start.
func (t *Meter) Sum(ranks Ranks) *Communication {
	if ranks == nil || len(t.bytes) == 0 {
		return nil
	}
	size, n := ranks.Size(), len(t.bytes)
	bytes := make([]int64, size*n)
	calls, cpu, all := make([]time.Duration, size*n), make([]time.Duration, size*n), make([]time.Duration, size*n)
	copy(bytes[ranks.Rank()*n:], t.bytes)
	copy(calls[ranks.Rank()*n:], t.calls)
	copy(cpu[ranks.Rank()*n:], t.cpu)
	copy(all[ranks.Rank()*n:], t.all)
	backend.GatherValues(ranks, bytes, backend.Even(size, size), n)
	for _, values := range [][]time.Duration{calls, cpu, all} {
		backend.GatherValues(ranks, values, backend.Even(size, size), n)
	}
	between := func(from, to int) Traffic {
		out := Traffic{Wall: t.wall[to].Sub(t.wall[from]).Seconds(), Seconds: (t.calls[to] - t.calls[from]).Seconds(), Least: math.Inf(1)}
		for r := range size {
			out.Least = min(out.Least, (calls[r*n+to] - calls[r*n+from]).Seconds())
			out.Bytes += bytes[r*n+to] - bytes[r*n+from]
			messages := (cpu[r*n+to] - cpu[r*n+from]).Seconds()
			work := (all[r*n+to] - all[r*n+from]).Seconds() - messages
			out.CPU, out.Work, out.Longest = out.CPU+messages, out.Work+work, max(out.Longest, work)
		}
		return out
	}
	c := &Communication{Ranks: size, Sweeps: []Traffic{}, Fit: between(0, n-1)}
	for i := 1; i+1 < n; i++ { // the last reading is that of the end
		c.Sweeps = append(c.Sweeps, between(i-1, i))
	}
	return c
}
