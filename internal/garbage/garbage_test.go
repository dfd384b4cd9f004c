package garbage

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestPercent(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		live int64
		want int
	}{{0, 800}, {16 * mib, 200}, {100 * mib, 50}, {256 * mib, 50}, {512 * mib, 25}, {2048 * mib, 10}, {1 << 45, 10}} {
		if got := Percent(c.live); got != c.want {
			t.Errorf("Percent(%d MiB) = %d, want %d", c.live/mib, got, c.want)
		}
	}
}

// The percentage follows the heap up and down.
func TestBound(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	Bound()
	percent := func() int {
		for range 4 { // a finalizer runs after its collection
			runtime.GC()
			runtime.Gosched()
		}
		p := debug.SetGCPercent(most)
		debug.SetGCPercent(p)
		return p
	}
	large := make([]byte, 2<<30) // not touched: it takes no memory
	for i := 0; i < 1000 && percent() != least; i++ {
	}
	if got := percent(); got != least {
		t.Errorf("%d %% of a heap of 2 GiB, want %d", got, least)
	}
	runtime.KeepAlive(large)
	large = nil
	for i := 0; i < 1000 && percent() != Percent(0); i++ {
	}
	if got := percent(); got != Percent(0) {
		t.Errorf("%d %% of an empty heap, want %d", got, Percent(0))
	}
}
