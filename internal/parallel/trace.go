//go:build looptrace && linux

package parallel

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

// With the build tag looptrace, a program runs the pieces of its loops one after the other, measures
// the CPU time of each, and computes how long a loop would take on as many equally fast threads as it
// asks for. It writes a line per loop to the file KFT_LOOPTRACE: thread, depth (1 for a loop that is
// in no other), callers, threads, pieces, and microseconds: on one thread since its last
// loop, of all pieces together, and on the threads. bench/loops adds them up. Memory and caches that
// threads share are not part of it.

// loopCost is what a loop adds by starting its helpers, in nanoseconds; see BenchmarkFor.
const loopCost = 15_000

var tracing struct {
	sync.Mutex
	file       *os.File
	goroutines map[int]*path
}

// path is where a goroutine is: the loops that it is in, and its CPU time at the end of the last one.
type path struct {
	depth int
	left  int64
	spans int64 // of the loops within the present piece, and of the code between them, on several threads
}

// trace runs a loop and records it.
func trace(threads, n int, work func(worker, i int)) bool {
	if n <= 0 {
		return true
	}
	id := syscall.Gettid()
	p := pathOf(id)
	p.depth++
	began := threadTime()
	if began < p.left {
		p.left = began // a new thread with the number of one that ended
	}
	between, outer := began-p.left, p.spans
	free := make([]int64, max(1, min(threads, n))) // when each thread has finished its pieces
	total, busy, at := int64(0), int64(0), began   // busy: with loops within pieces on all threads
	for i := range n {
		p.left, p.spans = at, 0
		func() {
			defer func() {
				if e := recover(); e != nil {
					p.depth, p.spans = p.depth-1, outer
					panic(e)
				}
			}()
			work(0, i)
		}()
		now := threadTime()
		total += now - at
		next := 0
		for t := range free {
			if free[t] < free[next] {
				next = t
			}
		}
		free[next] += p.spans + now - p.left
		busy += p.spans + now - p.left
		at = now
	}
	span := busy / int64(max(1, threads))
	for _, t := range free {
		span = max(span, t)
	}
	if len(free) > 1 {
		span += loopCost
	}
	p.write(fmt.Sprintf("%d\t%d\t%s\t%d\t%d\t%d\t%d\t%d\n", id, p.depth, callers(), threads, n, between/1000, total/1000, span/1000))
	p.depth--
	p.spans = outer + between + span
	p.left = threadTime()
	return true
}

// pathOf returns the path of the goroutine on a thread. Its first loop binds it to the thread, whose clock is read.
func pathOf(id int) *path {
	tracing.Lock()
	defer tracing.Unlock()
	p := tracing.goroutines[id]
	if p == nil {
		runtime.LockOSThread()
		p = &path{left: threadTime()}
		if tracing.goroutines == nil {
			tracing.goroutines = map[int]*path{}
		}
		tracing.goroutines[id] = p
	}
	return p
}

func (p *path) write(line string) {
	tracing.Lock()
	defer tracing.Unlock()
	if tracing.file == nil {
		f, err := os.Create(os.Getenv("KFT_LOOPTRACE"))
		if err != nil {
			panic(err)
		}
		tracing.file = f
	}
	if _, err := tracing.file.WriteString(line); err != nil {
		panic(err)
	}
}

// callers returns the functions that started a loop, from the innermost one outside this package.
func callers() string {
	var at [32]uintptr
	frames := runtime.CallersFrames(at[:runtime.Callers(3, at[:])])
	var names []string
	for more := true; more && len(names) < 8; {
		var f runtime.Frame
		f, more = frames.Next()
		if _, name, ok := strings.Cut(f.Function, "kft/"); ok && !strings.HasPrefix(name, "internal/parallel.") {
			names = append(names, fmt.Sprintf("%s:%d", name, f.Line))
		}
	}
	return strings.Join(names, " < ")
}

// threadTime returns the CPU time of this thread in nanoseconds.
func threadTime() int64 {
	const threadClock = 3 // CLOCK_THREAD_CPUTIME_ID
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}
