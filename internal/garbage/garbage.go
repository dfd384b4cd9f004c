// Package garbage bounds the memory that waits for the garbage collector.
//
// Most memory of a fit is in long arrays without pointers, which a collection does not look
// through, so that collecting often costs little time. A fixed share of the memory in use,
// as GOGC sets it, is gigabytes in a large fit.
package garbage

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// allowed is the garbage in bytes that a heap may have before it is collected; least and
// most bound it, in percent of the memory in use. A small heap may have garbage of the size
// small: a fit of a small table makes that much in a fraction of a second.
const (
	allowed = 128 << 20
	least   = 10
	most    = 50
	small   = 32 << 20
)

// Percent returns the garbage that [Bound] allows beside live bytes, in percent of these.
func Percent(live int64) int {
	live = max(live, 4<<20) // the runtime multiplies 4 MiB, its smallest heap, by the percentage
	return int(max(least, min(most, 100*allowed/live), 100*small/live))
}

// Bound keeps the garbage of the process at [Percent] of its heap, from now on: it follows
// the size of the heap after every collection.
func Bound() {
	debug.SetGCPercent(Percent(0))
	w := &watch{percent: Percent(0), live: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	runtime.SetFinalizer(w, (*watch).collected)
}

// A watch is garbage in every collection, which calls collected.
type watch struct {
	percent int
	live    []metrics.Sample
}

func (w *watch) collected() {
	metrics.Read(w.live)
	if percent := Percent(int64(w.live[0].Value.Uint64())); percent != w.percent {
		w.percent = percent
		debug.SetGCPercent(percent)
	}
	runtime.SetFinalizer(w, (*watch).collected)
}
