package train

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"math"
	"time"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/backend/mpi"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/train/checkpoint"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Ranks are processes that run the same fit on the same table and divide the work of the
// solver; see package mpi. The weights are on all of them.
type Ranks interface {
	backend.Ranks
	Interrupted() bool // this process was asked to stop

	// Traffic returns the bytes that this process received so far, its time in messages and in waiting for
	// them, the CPU time of that, and the CPU time of the process.
	Traffic() (bytes int64, calls, cpu, process time.Duration)
}

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

// trafficMeter reads the traffic of this process at the ends of sweeps.
type trafficMeter struct {
	bytes           []int64
	calls, cpu, all []time.Duration
	wall            []time.Time
}

func (t *trafficMeter) read(ranks Ranks) {
	if ranks == nil {
		return
	}
	bytes, calls, cpu, all := ranks.Traffic()
	t.bytes, t.calls, t.cpu, t.all = append(t.bytes, bytes), append(t.calls, calls), append(t.cpu, cpu), append(t.all, all)
	t.wall = append(t.wall, time.Now())
}

// sum returns the traffic of all ranks, nil without ranks. The first reading is that of the start.
func (t *trafficMeter) sum(ranks Ranks) *Communication {
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

// group returns the ranks as the group of processes that they are, nil without ranks.
func (o *Options) group() peers.Group {
	if o.Ranks == nil {
		return nil
	}
	return o.Ranks
}

// backendRanks returns the ranks as those of a backend, nil without ranks.
func (o *Options) backendRanks() backend.Ranks {
	if o.Ranks == nil {
		return nil
	}
	return o.Ranks
}

// leads reports whether this process saves checkpoints and decides about time.
func (o *Options) leads() bool { return o.Ranks == nil || o.Ranks.Rank() == 0 }

// Agree returns the decision of rank 0, on all ranks.
func (o *Options) Agree(yes bool) bool {
	if o.Ranks == nil {
		return yes
	}
	answer := []bool{yes}
	o.Ranks.Broadcast(backend.Bytes(answer), 0)
	return answer[0]
}

// agreeRead makes all ranks fail if one of them could not read the table, or has another one.
func (o *Options) agreeRead(data *fitdata.Data, err error) error {
	if o.Ranks == nil {
		return err
	}
	if err := mpi.AgreeErrors(o.Ranks, err); err != nil {
		return err
	}
	parts := crc32.Checksum(backend.Bytes(data.Split().Parts), crc32.MakeTable(crc32.Castagnoli))
	return mpi.AgreeSame(o.Ranks, "the table or its split", binary.LittleEndian.AppendUint32([]byte(data.Hash()), parts))
}

// agreeErrors makes all ranks fail if one of them did.
func (o *Options) agreeErrors(err error) error {
	if o.Ranks == nil {
		return err
	}
	return mpi.AgreeErrors(o.Ranks, err)
}

// loadTogether returns the state that rank 0 continues from, on all ranks; nil if there is none.
func (r *run) loadTogether() (*solver.State, error) {
	if r.opt.Ranks == nil {
		return r.load()
	}
	var state *solver.State
	var content []byte
	var err error
	if r.opt.leads() {
		if state, err = r.load(); err == nil && state != nil {
			content, err = r.checkpoint.Content(state)
		}
	}
	if err := r.opt.agreeErrors(err); err != nil {
		return nil, err
	}
	content = backend.BroadcastBytes(r.opt.Ranks, content)
	if len(content) == 0 || r.opt.leads() {
		return state, nil
	}
	f, err := modelfile.Decode(content, r.opt.Checkpoint)
	if err != nil {
		return nil, err
	}
	return checkpoint.Decode(f, r.opt.Checkpoint)
}

// stopTogether returns the reason to stop that all ranks follow: an interruption of any of
// them, or the time budget of rank 0.
func (o *Options) stopTogether(mine solver.Stop) solver.Stop {
	if o.Ranks.Interrupted() {
		mine = solver.Interrupted
	}
	reasons := []solver.Stop{"", solver.Budget, solver.Interrupted}
	size := o.Ranks.Size()
	all := make([]byte, size)
	for i, reason := range reasons {
		if mine == reason {
			all[o.Ranks.Rank()] = byte(i)
		}
	}
	backend.GatherValues(o.Ranks, all, backend.Even(size, size), 1)
	stop := reasons[all[0]]
	for _, i := range all {
		if reasons[i] == solver.Interrupted {
			stop = solver.Interrupted
		}
	}
	return stop
}

// solverEngine returns the engine of the solver, whose work is divided over the ranks, and a function that
// gives back its memory.
func (r *run) solverEngine() (backend.Backend, func() error) {
	path, err := cpu.ChoosePath()
	if r.opt.Ranks == nil || err != nil { // it was chosen before
		return r.engine, func() error { return nil }
	}
	engine := cpu.New(path, r.engine.Threads()).OnRanks(r.opt.Ranks)
	if r.pages != nil {
		engine.SetPages(r.pages)
		return engine, func() error { return nil }
	}
	reserved := paged.Reserve() // a rank uses parts of arrays with an entry per row
	engine.SetPages(reserved)
	return engine, reserved.Close
}

// momentsTogether returns the field's moments, of which each rank computes a part.
func (r *run) momentsTogether(codes [][]int32) tt.Moments {
	n := len(codes[0])
	pieces := (n + model.MomentRows - 1) / model.MomentRows
	if r.opt.Ranks == nil || pieces < 2 {
		return r.model.Moments(r.engine, codes)
	}
	bounds := backend.Even(pieces, r.opt.Ranks.Size())
	for k, piece := range bounds {
		bounds[k] = min(n, piece*model.MomentRows)
	}
	from, to := bounds[r.opt.Ranks.Rank()], bounds[r.opt.Ranks.Rank()+1]
	own := make([][]int32, len(codes))
	for m, column := range codes {
		own[m] = column[from:to]
	}
	part := r.model.Moments(r.engine, own)
	complete := func(part []float32) []float32 {
		if part == nil {
			return nil
		}
		all := backend.Make[float32](r.engine, n)
		copy(all[from:to], part)
		backend.GatherValues(r.opt.Ranks, all, bounds, 1)
		backend.FreeAll(r.engine, [][]float32{part})
		return all
	}
	return tt.Moments{Mean: complete(part.Mean), Var: complete(part.Var)}
}

// measureTogether measures rows, of which each rank takes a part.
func (r *run) measureTogether(z tt.Moments, rows evaluate.Rows, calibration bool) (sums *evaluate.Sums, err error) {
	if r.opt.Ranks == nil {
		return evaluate.Measure(r.engine, r.model, z, rows, calibration)
	}
	return evaluate.MeasureOver(r.opt.Ranks, r.opt.agreeErrors, r.engine, r.model, z, rows, calibration)
}

// ownBlocks cuts blocks of n rows into one run per rank, of which this process has the returned one.
func ownBlocks(r *run, n int) (bounds []int, rank int) {
	blocks := (n + parallel.Block - 1) / parallel.Block
	if r.opt.Ranks == nil {
		return []int{0, blocks}, 0
	}
	return backend.Even(blocks, r.opt.Ranks.Size()), r.opt.Ranks.Rank()
}

// ownRows returns the rows for which eachOwn calls work on this process.
func ownRows(r *run, n int) (from, to int) {
	bounds, rank := ownBlocks(r, n)
	return min(n, bounds[rank]*parallel.Block), min(n, bounds[rank+1]*parallel.Block)
}

// eachOwn calls work for pieces of n rows. Over several ranks each has a run of the pieces, and
// bounds tells which rows. It returns the first error.
func eachOwn(r *run, n int, work func(from, to int) error) (bounds []int, err error) {
	bounds, rank := ownBlocks(r, n)
	failed := make([]error, bounds[rank+1]-bounds[rank])
	parallel.For(r.engine.Threads(), len(failed), func(i int) {
		from := (bounds[rank] + i) * parallel.Block
		failed[i] = work(from, min(n, from+parallel.Block))
	})
	for k, block := range bounds {
		bounds[k] = min(n, block*parallel.Block)
	}
	return bounds, r.opt.agreeErrors(cmp.Or(failed...))
}

// eachRow is eachOwn for work that sets the values of the rows. All ranks get all values.
func eachRow[T any](r *run, values []T, work func(from, to int) error) error {
	bounds, err := eachOwn(r, len(values), work)
	if err == nil && r.opt.Ranks != nil {
		backend.GatherValues(r.opt.Ranks, values, bounds, 1)
	}
	return err
}

// inTurn calls work for the rows of each rank in turn, which continues sums, without pointers, over
// the rows before. All ranks get the sums over all rows, in the order of one process.
func inTurn[T any](r *run, bounds []int, sums []T, work func(from, to int)) {
	ranks := r.opt.Ranks
	if ranks == nil {
		work(bounds[0], bounds[1])
		return
	}
	rank, last := ranks.Rank(), ranks.Size()-1
	if rank > 0 {
		ranks.Receive(backend.Bytes(sums), rank-1)
	}
	work(bounds[rank], bounds[rank+1])
	if rank < last {
		ranks.Send(backend.Bytes(sums), rank+1)
	}
	ranks.Broadcast(backend.Bytes(sums), last)
}
