// Package collective has what the processes of a fit do together: ranks that run the same fit on
// the same table divide its rows, and agree on errors and on when to stop. Without ranks each
// function does the work of one process.
package collective

import (
	"cmp"
	"time"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/mpi"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/solver"
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

// Group returns ranks as the group of processes that they are, nil without ranks.
func Group(ranks Ranks) peers.Group {
	if ranks == nil {
		return nil
	}
	return ranks
}

// Backend returns ranks as those of a backend, nil without ranks.
func Backend(ranks Ranks) backend.Ranks {
	if ranks == nil {
		return nil
	}
	return ranks
}

// Leads reports whether this process saves checkpoints and decides about time.
func Leads(ranks Ranks) bool { return ranks == nil || ranks.Rank() == 0 }

// Agree returns the decision of rank 0, on all ranks.
func Agree(ranks Ranks, yes bool) bool {
	if ranks == nil {
		return yes
	}
	answer := []bool{yes}
	ranks.Broadcast(backend.Bytes(answer), 0)
	return answer[0]
}

// AgreeErrors makes all ranks fail if one of them did.
func AgreeErrors(ranks Ranks, err error) error {
	if ranks == nil {
		return err
	}
	return mpi.AgreeErrors(ranks, err)
}

// Stop returns the reason to stop that all ranks follow: an interruption of any of
// them, or the time budget of rank 0.
func Stop(ranks Ranks, mine solver.Stop) solver.Stop {
	if ranks.Interrupted() {
		mine = solver.Interrupted
	}
	reasons := []solver.Stop{"", solver.Budget, solver.Interrupted}
	size := ranks.Size()
	all := make([]byte, size)
	for i, reason := range reasons {
		if mine == reason {
			all[ranks.Rank()] = byte(i)
		}
	}
	backend.GatherValues(ranks, all, backend.Even(size, size), 1)
	stop := reasons[all[0]]
	for _, i := range all {
		if reasons[i] == solver.Interrupted {
			stop = solver.Interrupted
		}
	}
	return stop
}

// ownBlocks cuts blocks of n rows into one run per rank, of which this process has the returned one.
func ownBlocks(ranks Ranks, n int) (bounds []int, rank int) {
	blocks := (n + parallel.Block - 1) / parallel.Block
	if ranks == nil {
		return []int{0, blocks}, 0
	}
	return backend.Even(blocks, ranks.Size()), ranks.Rank()
}

// OwnRows returns the rows for which EachOwn calls work on this process.
func OwnRows(ranks Ranks, n int) (from, to int) {
	bounds, rank := ownBlocks(ranks, n)
	return min(n, bounds[rank]*parallel.Block), min(n, bounds[rank+1]*parallel.Block)
}

// EachOwn calls work for pieces of n rows. Over several ranks each has a run of the pieces, and
// bounds tells which rows. It returns the first error.
func EachOwn(ranks Ranks, threads, n int, work func(from, to int) error) (bounds []int, err error) {
	bounds, rank := ownBlocks(ranks, n)
	failed := make([]error, bounds[rank+1]-bounds[rank])
	parallel.For(threads, len(failed), func(i int) {
		from := (bounds[rank] + i) * parallel.Block
		failed[i] = work(from, min(n, from+parallel.Block))
	})
	for k, block := range bounds {
		bounds[k] = min(n, block*parallel.Block)
	}
	return bounds, AgreeErrors(ranks, cmp.Or(failed...))
}

// EachRow is EachOwn for work that sets the values of the rows. All ranks get all values.
func EachRow[T any](ranks Ranks, threads int, values []T, work func(from, to int) error) error {
	bounds, err := EachOwn(ranks, threads, len(values), work)
	if err == nil && ranks != nil {
		backend.GatherValues(ranks, values, bounds, 1)
	}
	return err
}

// InTurn calls work for the rows of each rank in turn, which continues sums, without pointers, over
// the rows before. All ranks get the sums over all rows, in the order of one process.
func InTurn[T any](ranks Ranks, bounds []int, sums []T, work func(from, to int)) {
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
