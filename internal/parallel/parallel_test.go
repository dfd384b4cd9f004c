package parallel

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestEveryIndexIsVisitedOnce(t *testing.T) {
	t.Parallel()
	for _, threads := range []int{0, 1, 2, 3, 16} {
		for _, n := range []int{0, 1, 2, 5, 100} {
			byFor, byRanges := make([]atomic.Int32, n), make([]atomic.Int32, n)
			For(threads, n, func(i int) { byFor[i].Add(1) })
			Ranges(threads, n, func(_, from, to int) {
				if from >= to {
					t.Errorf("threads %d, n %d: got the empty range %d..%d", threads, n, from, to)
				}
				for i := from; i < to; i++ {
					byRanges[i].Add(1)
				}
			})
			for i := range n {
				if got := byFor[i].Load(); got != 1 {
					t.Errorf("For(%d, %d): index %d visited %d times, want 1", threads, n, i, got)
				}
				if got := byRanges[i].Load(); got != 1 {
					t.Errorf("Ranges(%d, %d): index %d visited %d times, want 1", threads, n, i, got)
				}
			}
		}
	}
}

func TestSumsDoNotDependOnThreads(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, Block, 5*Block + 3} {
		part := func(from, to int) float64 {
			s := 0.0
			for i := from; i < to; i++ {
				s += 1 / float64(i+1)
			}
			return s
		}
		want := Sum(1, n, part)
		for _, threads := range []int{2, 7, 16, 64} {
			if got := Sum(threads, n, part); got != want {
				t.Errorf("n %d: %d threads give %v, 1 thread gives %v", n, threads, got, want)
			}
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{0, 10, 5*Block + 3} {
		for _, n := range []int{1, 7, 3 * Block} {
			codes, want := make([]int32, rows), make([]int32, n)
			for i := range codes {
				if codes[i] = int32(i*i%(n+1)) - 1; codes[i] >= 0 {
					want[codes[i]]++
				}
			}
			for _, threads := range []int{1, 2, 16} {
				if got := Count(threads, codes, n); !slices.Equal(got, want) {
					t.Errorf("%d codes of %d, %d threads: got other counts", rows, n, threads)
				}
			}
		}
	}
}

// Loops within loops of several callers at once, most of them shorter than it takes a helper to come.
func TestManyCallers(t *testing.T) {
	t.Parallel()
	var total atomic.Int64
	const callers, loops, pieces, inner = 8, 200, 5, 3
	For(callers, callers, func(int) {
		for range loops {
			For(4, pieces, func(int) {
				ForWorkers(3, inner, func(worker, _ int) {
					if worker >= inner {
						t.Errorf("worker %d of %d", worker, inner)
					}
					total.Add(1)
				})
			})
		}
	})
	if got, want := total.Load(), int64(callers*loops*pieces*inner); got != want {
		t.Errorf("got %d pieces, want %d", got, want)
	}
}

// A loop that starts while all helpers work gets those that finish: its first piece waits for the second.
func TestFinishedHelpersJoinOtherLoops(t *testing.T) {
	var begun sync.WaitGroup
	release, ended := make(chan struct{}), make(chan struct{})
	const threads = 8
	begun.Add(threads)
	go func() {
		For(threads, threads, func(int) {
			begun.Done()
			<-release
		})
		close(ended)
	}()
	begun.Wait()
	second := make(chan struct{})
	For(2, 2, func(i int) {
		if i == 1 {
			close(second)
			return
		}
		close(release)
		<-second
	})
	<-ended
}

// The error of a helper reaches the caller, and the next loop works.
func TestErrorOfHelper(t *testing.T) {
	failed := errors.New("no room")
	for range 100 {
		func() {
			defer func() {
				if recover() != failed {
					t.Error("the error did not reach the caller")
				}
			}()
			For(4, 64, func(i int) {
				if i == 40 {
					panic(failed)
				}
			})
		}()
	}
	sum := Sum(4, 3*Block, func(from, to int) float64 { return float64(to - from) })
	if sum != 3*Block {
		t.Errorf("got %g, want %d", sum, 3*Block)
	}
}

// A fault of the program in a helper reaches the caller with its place.
func TestBugOfHelper(t *testing.T) {
	for range 100 {
		func() {
			defer func() {
				if bug, ok := Caught(recover()).(*Bug); !ok || !strings.Contains(bug.Where, "TestBugOfHelper") {
					t.Errorf("got %v, want the place of the fault", bug)
				}
			}()
			For(4, 64, func(i int) { _ = make([]int, 40)[i] })
		}()
	}
}
