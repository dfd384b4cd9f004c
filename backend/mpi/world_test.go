//go:build native && linux

package mpi

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
)

// TestMessages runs on each rank of a job that TestOverRanks starts.
func TestMessages(t *testing.T) {
	if _, launched := Launched(os.Getenv); !launched {
		t.Skip("not started by mpirun")
	}
	w, err := Start(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("rank %d of %d, %s", w.Rank(), w.Size(), w.Library())
	for _, yield := range []bool{false, true} {
		w.Yield(yield)
		testMessages(t, w)
	}
	w.Finalize()
}

func testMessages(t *testing.T, w *World) {
	rank, size := w.Rank(), w.Size()
	w.Barrier()

	data := make([]int64, 3)
	if rank == 1 {
		data = []int64{4, 5, 6}
	}
	w.Broadcast(backend.Bytes(data), 1)
	if !slices.Equal(data, []int64{4, 5, 6}) {
		t.Errorf("rank %d: broadcast: got %v", rank, data)
	}

	const n = 1001
	bounds := backend.Even(n, size)
	part := make([]float32, n)
	for i := bounds[rank]; i < bounds[rank+1]; i++ {
		part[i] = float32(i)
	}
	backend.GatherValues(w, part, bounds, 1)
	for i, v := range part {
		if v != float32(i) {
			t.Fatalf("rank %d: gather: value %d is %g", rank, i, v)
		}
	}

	// A chain over the ranks, with a message longer than what libraries send at once.
	long := make([]byte, 1<<20)
	if rank > 0 {
		w.Receive(long, rank-1)
	}
	for i := range long {
		long[i]++
	}
	if rank+1 < size {
		w.Send(long, rank+1)
	}
	if want := bytes.Repeat([]byte{byte(rank + 1)}, len(long)); !bytes.Equal(long, want) {
		t.Errorf("rank %d: chain: got %d, want %d", rank, long[0], want[0])
	}

	// Rank r sends r+1 bytes of value 10 r + to, to each rank.
	for _, exchange := range []func(send, received []byte, sent, taken []int){w.Exchange, w.exchangePairs} {
		var send, want []byte
		sent, taken := []int{0}, []int{0}
		for r := range size {
			send = append(send, bytes.Repeat([]byte{byte(10*rank + r)}, rank+1)...)
			want = append(want, bytes.Repeat([]byte{byte(10*r + rank)}, r+1)...)
			sent, taken = append(sent, len(send)), append(taken, len(want))
		}
		received := make([]byte, len(want))
		exchange(send, received, sent, taken)
		if !bytes.Equal(received, want) {
			t.Errorf("rank %d: exchange: got %v, want %v", rank, received, want)
		}
	}

	most := []int64{int64(rank), -int64(rank)}
	w.Max(most)
	if want := []int64{int64(size - 1), 0}; !slices.Equal(most, want) {
		t.Errorf("rank %d: maximum: got %v, want %v", rank, most, want)
	}
}
