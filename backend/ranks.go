package backend

import "unsafe"

// Ranks are processes that run the same program on the same data and divide the work of passes:
// each computes some shards or entities, and all have all results. The methods are called by
// all of them in the same order, from one goroutine at a time. Package mpi implements them.
type Ranks interface {
	Rank() int // of this process, from 0
	Size() int // number of processes

	// Broadcast copies the data of rank root to all others.
	Broadcast(data []byte, root int)
	// Gather completes data on all ranks: rank r has the bytes bounds[r]..bounds[r+1].
	Gather(data []byte, bounds []int)
	// Send and Receive pass data to and from one rank.
	Send(data []byte, to int)
	Receive(data []byte, from int)
	// Exchange sends send[sent[r]:sent[r+1]] to each rank r and receives
	// received[taken[r]:taken[r+1]] from it.
	Exchange(send, received []byte, sent, taken []int)
}

// Even cuts n things into one run per rank, of about equal length: run r is
// bounds[r]..bounds[r+1].
func Even(n, ranks int) (bounds []int) {
	bounds = make([]int, ranks+1)
	for r := range bounds {
		bounds[r] = int(int64(n) * int64(r) / int64(ranks))
	}
	return bounds
}

// Bytes returns the memory of values, which have no pointers, without a copy.
func Bytes[T any](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))
}

// GatherValues completes values, which have no pointers, on all ranks: rank r has
// values[bounds[r]*length : bounds[r+1]*length].
func GatherValues[T any](ranks Ranks, values []T, bounds []int, length int) {
	if len(values) == 0 {
		return
	}
	size := length * int(unsafe.Sizeof(values[0]))
	inBytes := make([]int, len(bounds))
	for r, b := range bounds {
		inBytes[r] = b * size
	}
	ranks.Gather(Bytes(values), inBytes)
}

// Divided is implemented by a backend that divides its work over ranks. Visit of
// NormalEquations is then called for entities of this rank only.
type Divided interface {
	Ranks() Ranks // nil if the backend works alone

	// CellBounds returns where the cells of each rank start in the order of a plan: its passes read
	// the target there only. It is nil if each rank computes all cells.
	CellBounds(p *Plan) []int

	// LeafBounds is CellBounds for NormalEquationsByLeaf and the leaf order.
	LeafBounds(p *Plan) []int

	// NormalEquationsByLeaf is NormalEquations without weights, given the target in leaf order.
	NormalEquationsByLeaf(p *Plan, cores []Slices, target []float32, visit EquationsFunc)

	// ShareEntities completes values on all ranks, length of them per entity of the leaf
	// core, after visit has set those of its entities. It returns the sum of n over the ranks.
	ShareEntities(p *Plan, values []float32, length int, n int64) int64
}

// ShareEntities completes the values that were set by visit of NormalEquations, length of
// them per entity, and the number n of events there, on all ranks.
func ShareEntities(b Backend, p *Plan, values []float32, length int, n int64) int64 {
	if s, ok := b.(Divided); ok {
		return s.ShareEntities(p, values, length, n)
	}
	return n
}
