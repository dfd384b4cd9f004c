//go:build native && linux

package mpi

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// Native reports whether the program can load a library of MPI.
const Native = true

// World is the set of all ranks of a job. Its methods must be called from one goroutine at a time,
// and by all ranks in the same order. The library is called on the thread of the caller: to pass
// each call to a thread of its own would wake two threads per message, which may share one CPU or
// run on cold ones.
type World struct {
	lib        *library
	rank, size int
	polite     bool
	cpu        time.Duration // of calls of the library
}

// Start loads the library of MPI and joins the job. The environment tells the launcher, and
// may name the library by [LibraryVariable].
func Start(getenv func(string) string) (*World, error) {
	launch, _ := Launched(getenv)
	if launch.Open {
		// The library's own handlers of memory faults would replace those of the Go runtime.
		os.Setenv("OMPI_MCA_opal_signal", "6")
	}
	w := &World{}
	var err error
	if w.lib, err = load(getenv(LibraryVariable), launch); err != nil {
		return nil, err
	}
	return w, w.init(launch)
}

// call calls a function of MPI with pointers to Go memory that stays in place.
func (w *World) call(function uintptr, arguments ...any) {
	runtime.LockOSThread() // whose CPU time is read
	defer runtime.UnlockOSThread()
	began := cpuTime(unix.RUSAGE_THREAD)
	w.lib.call(function, arguments...)
	w.cpu += cpuTime(unix.RUSAGE_THREAD) - began
}

// Yield makes the process sleep while it waits for others, for jobs with more ranks than CPUs. Libraries
// of MPI otherwise keep a CPU busy, which is faster if there is one for each rank.
func (w *World) Yield(yes bool) { w.polite = yes }

// An operation has two functions: one that waits and one that starts it and returns a request.
type operation struct{ wait, start uintptr }

// run performs an operation. The last argument is only that of the function that waits.
func (w *World) run(o operation, last any, arguments ...any) {
	if !w.polite {
		if last != nil {
			arguments = append(arguments, last)
		}
		w.call(o.wait, arguments...)
		return
	}
	var request int64 // a number or an address, by library
	var pinner runtime.Pinner
	defer pinner.Unpin()
	pin(&pinner, arguments) // until the operation is over
	w.call(o.start, append(arguments, &request)...)
	var done int32
	for tries := 0; ; tries++ {
		if w.call(w.lib.test, &request, &done, w.lib.ignoreStatus); done != 0 {
			return
		}
		if tries > spins {
			time.Sleep(nap)
		}
	}
}

// While it yields, a process looks spins times for the end of an operation and then once after each
// nap.
const (
	spins = 50
	nap   = 50 * time.Microsecond
)

// init joins the job.
func (w *World) init(launch Launch) error {
	var provided, rank, size int32
	l := w.lib
	l.call(l.initThread, nil, nil, l.serialized, &provided)
	if int(provided) < l.serialized {
		return fmt.Errorf("%s: it does not support a program with several threads", l.path)
	}
	l.call(l.commRank, l.world, &rank)
	l.call(l.commSize, l.world, &size)
	w.rank, w.size = int(rank), int(size)
	if launch.Size > 0 && w.size != launch.Size {
		return fmt.Errorf("%s (%s) sees %d ranks, but the launcher started %d: the library and mpirun belong to different installations; set %s to the library of this mpirun",
			l.path, l.kind, w.size, launch.Size, LibraryVariable)
	}
	return nil
}

// Library returns the file and the kind of the library.
func (w *World) Library() string { return w.lib.path + " (" + w.lib.kind + ")" }

// Rank returns the number of this process, from 0.
func (w *World) Rank() int { return w.rank }

// Size returns the number of ranks.
func (w *World) Size() int { return w.size }

// CPUTime returns the CPU time of calls of the library, which is that of messages and of
// looking for them while it waits, and that of the process.
func (w *World) CPUTime() (messages, process time.Duration) { return w.cpu, cpuTime(unix.RUSAGE_SELF) }

func cpuTime(who int) time.Duration {
	var usage unix.Rusage
	if unix.Getrusage(who, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// affinity returns the CPUs that this process may use.
func affinity() (set cpuSet) {
	var mask unix.CPUSet
	if unix.SchedGetaffinity(0, &mask) != nil {
		return set
	}
	for cpu := range 64 * len(set) {
		if mask.IsSet(cpu) {
			set[cpu/64] |= 1 << (cpu % 64)
		}
	}
	return set
}

// Barrier returns when all ranks have called it.
func (w *World) Barrier() { w.run(w.lib.barrier, nil, w.lib.world) }

// longest is the number of bytes of one message; the library counts with 32 bits.
const longest = 1 << 30

// pieces cuts data into messages.
func pieces(data []byte, pass func(piece []byte)) {
	for len(data) > 0 {
		n := min(len(data), longest)
		pass(data[:n])
		data = data[n:]
	}
}

// Broadcast copies the data of rank root to all others.
func (w *World) Broadcast(data []byte, root int) {
	pieces(data, func(p []byte) { w.run(w.lib.bcast, nil, &p[0], len(p), w.lib.byteType, root, w.lib.world) })
}

// Gather completes data on all ranks: rank r has computed the bytes bounds[r]..bounds[r+1].
func (w *World) Gather(data []byte, bounds []int) {
	if len(data) == 0 {
		return
	}
	if len(data) > longest {
		for r := range w.size {
			w.Broadcast(data[bounds[r]:bounds[r+1]], r)
		}
		return
	}
	counts, starts := make([]int32, w.size), make([]int32, w.size)
	for r := range w.size {
		counts[r], starts[r] = int32(bounds[r+1]-bounds[r]), int32(bounds[r])
	}
	w.run(w.lib.allgatherv, nil, w.lib.inPlace, 0, w.lib.byteType, &data[0], &counts[0], &starts[0], w.lib.byteType, w.lib.world)
}

// tag marks the messages of Send and Receive.
const tag = 7

// Send sends data to a rank, which must receive as many bytes.
func (w *World) Send(data []byte, to int) {
	pieces(data, func(p []byte) { w.run(w.lib.send, nil, &p[0], len(p), w.lib.byteType, to, tag, w.lib.world) })
}

// Receive receives data of a rank.
func (w *World) Receive(data []byte, from int) {
	pieces(data, func(p []byte) {
		w.run(w.lib.recv, w.lib.ignoreStatus, &p[0], len(p), w.lib.byteType, from, tag, w.lib.world)
	})
}

// Exchange sends send[sent[r]:sent[r+1]] to each rank r and receives
// received[taken[r]:taken[r+1]] from it.
func (w *World) Exchange(send, received []byte, sent, taken []int) {
	if len(send) > longest || len(received) > longest {
		w.exchangePairs(send, received, sent, taken)
		return
	}
	list := func(bounds []int) (counts, starts []int32) {
		for r := range w.size {
			counts, starts = append(counts, int32(bounds[r+1]-bounds[r])), append(starts, int32(bounds[r]))
		}
		return counts, starts
	}
	sendCounts, sendStarts := list(sent)
	takeCounts, takeStarts := list(taken)
	w.run(w.lib.alltoallv, nil, start(send), &sendCounts[0], &sendStarts[0], w.lib.byteType, start(received), &takeCounts[0], &takeStarts[0], w.lib.byteType, w.lib.world)
}

// start returns the address of data, or of some memory if there is none.
func start(data []byte) *byte {
	if len(data) == 0 {
		return new(byte)
	}
	return &data[0]
}

// exchangePairs is Exchange for long messages: in round k, rank r meets rank (k - r) mod size.
func (w *World) exchangePairs(send, received []byte, sent, taken []int) {
	for k := range w.size {
		r := (k - w.rank + w.size) % w.size
		out, in := send[sent[r]:sent[r+1]], received[taken[r]:taken[r+1]]
		switch {
		case r == w.rank:
			copy(in, out)
		case r > w.rank:
			w.Send(out, r)
			w.Receive(in, r)
		default:
			w.Receive(in, r)
			w.Send(out, r)
		}
	}
}

// Max replaces each value by its maximum over the ranks.
func (w *World) Max(values []int64) {
	if len(values) > 0 {
		w.run(w.lib.allreduce, nil, w.lib.inPlace, &values[0], len(values), w.lib.int64Type, w.lib.max, w.lib.world)
	}
}

// Abort ends all ranks of the job. It does not return.
func (w *World) Abort(code int) {
	w.call(w.lib.abort, w.lib.world, code)
	os.Exit(code)
}

// Finalize leaves the job. No method may be called after it.
func (w *World) Finalize() {
	w.call(w.lib.finalize)
}

// library is a loaded library: its constants and the addresses of its functions.
type library struct {
	path, kind string

	world, byteType, int64Type, max, inPlace, ignoreStatus uintptr
	serialized                                             int // the level of threads at which any of them may call

	initThread, commRank, commSize, test, abort, finalize        uintptr
	barrier, bcast, allgatherv, alltoallv, allreduce, send, recv operation
}

// load opens the library that is named, or the first that is found.
func load(named string, launch Launch) (*library, error) {
	names := []string{"libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi_abi.so", "libmpich.so.12", "libmpi.so.12", "libmpi.so.40", "libmpi.so"}
	if launch.Open {
		names = []string{"libmpi.so.40", "libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi_abi.so", "libmpi.so"}
	}
	if named != "" {
		names = []string{named}
	}
	var tried []string
	for _, name := range names {
		handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err != nil {
			tried = append(tried, err.Error())
			continue
		}
		l := &library{path: name}
		if err := l.bind(handle); err != nil {
			tried = append(tried, fmt.Sprintf("%s: %v", name, err))
			continue
		}
		return l, nil
	}
	return nil, fmt.Errorf("%w; install Open MPI or MPICH, or set %s to the file of the library (tried: %s)", ErrNoLibrary, LibraryVariable, strings.Join(tried, "; "))
}

// bind finds the functions and the constants of a library.
func (l *library) bind(handle uintptr) error {
	for name, to := range map[string]*uintptr{
		"MPI_Init_thread": &l.initThread, "MPI_Comm_rank": &l.commRank, "MPI_Comm_size": &l.commSize, "MPI_Test": &l.test, "MPI_Abort": &l.abort, "MPI_Finalize": &l.finalize,
		"MPI_Barrier": &l.barrier.wait, "MPI_Ibarrier": &l.barrier.start, "MPI_Bcast": &l.bcast.wait, "MPI_Ibcast": &l.bcast.start,
		"MPI_Allgatherv": &l.allgatherv.wait, "MPI_Iallgatherv": &l.allgatherv.start, "MPI_Alltoallv": &l.alltoallv.wait, "MPI_Ialltoallv": &l.alltoallv.start,
		"MPI_Allreduce": &l.allreduce.wait, "MPI_Iallreduce": &l.allreduce.start, "MPI_Send": &l.send.wait, "MPI_Isend": &l.send.start, "MPI_Recv": &l.recv.wait, "MPI_Irecv": &l.recv.start,
	} {
		address, err := purego.Dlsym(handle, name)
		if err != nil {
			return fmt.Errorf("it has no function %s", name)
		}
		*to = address
	}
	symbol := func(name string) uintptr {
		address, err := purego.Dlsym(handle, name)
		if err != nil {
			return 0
		}
		return address
	}
	switch version := l.version(symbol("MPI_Get_library_version")); {
	case strings.Contains(l.path, "libmpi_abi"):
		l.kind = "MPI 5 ABI"
		l.world, l.byteType, l.int64Type, l.max, l.inPlace, l.ignoreStatus, l.serialized = 0x101, 0x247, 0x258, 0x23, 1, 0, 2048
	case symbol("ompi_mpi_comm_world") != 0:
		l.kind = "Open MPI"
		l.world, l.byteType, l.int64Type, l.max = symbol("ompi_mpi_comm_world"), symbol("ompi_mpi_byte"), symbol("ompi_mpi_int64_t"), symbol("ompi_mpi_op_max")
		l.inPlace, l.ignoreStatus, l.serialized = 1, 0, 2
	case strings.Contains(version, "MPICH") || strings.Contains(version, "Intel(R) MPI") || strings.Contains(version, "MVAPICH"):
		l.kind = "MPICH"
		l.world, l.byteType, l.int64Type, l.max = 0x44000000, 0x4c00010d, 0x4c00083a, 0x58000001
		l.inPlace, l.ignoreStatus, l.serialized = ^uintptr(0), 1, 2
	default:
		return fmt.Errorf("it is of an unknown kind (%q)", version)
	}
	return nil
}

// version returns what the library says of itself; the function may be called at any time.
func (l *library) version(function uintptr) string {
	if function == 0 {
		return ""
	}
	text, length := make([]byte, 1<<14), int32(0)
	l.call(function, &text[0], &length)
	return string(text[:min(max(int(length), 0), len(text))])
}

// call calls a function with integers, handles, pointers to memory that stays in place, and nil.
func (l *library) call(function uintptr, arguments ...any) {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	purego.SyscallN(function, pin(&pinner, arguments)...)
}

// pin keeps memory in place and returns the arguments as the words of a call.
func pin(pinner *runtime.Pinner, arguments []any) []uintptr {
	words := make([]uintptr, len(arguments))
	for i, a := range arguments {
		var address unsafe.Pointer
		switch v := a.(type) {
		case nil:
			continue
		case int:
			words[i] = uintptr(v)
			continue
		case uintptr:
			words[i] = v
			continue
		case *byte:
			address = unsafe.Pointer(v)
		case *int32:
			address = unsafe.Pointer(v)
		case *int64:
			address = unsafe.Pointer(v)
		default:
			panic(fmt.Sprintf("mpi: argument of type %T", a))
		}
		pinHeap(pinner, a)
		words[i] = uintptr(address)
	}
	return words
}

// pinHeap pins memory of the Go heap. Mapped memory, for which Pin panics, stays in place without that.
func pinHeap(pinner *runtime.Pinner, pointer any) {
	defer func() { _ = recover() }()
	pinner.Pin(pointer)
}
