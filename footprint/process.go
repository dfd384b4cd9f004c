package footprint

import (
	"fmt"
	"runtime"

	"github.com/kernel-fried-tensor/kft/internal/garbage"
	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/sysmemory"
)

// Runtime is what the program takes beside its data, in bytes.
const Runtime = 48 << 20

// A LimitError reports a fit that does not fit into the memory it may use.
type LimitError struct{ Least, Limit int64 }

func (e *LimitError) Error() string {
	return "the fit " + e.Needs() + "; allow more memory, or use lower ranks, fewer terms or fewer rows"
}

// Needs returns the text of the error as a predicate.
func (e *LimitError) Needs() string {
	const mib = 1 << 20
	return fmt.Sprintf("needs at least %d MiB of memory, and its limit is %d MiB", (e.Least+mib-1)/mib, e.Limit/mib)
}

// Machine returns the memory in bytes that this process can have in all, less what others may need meanwhile.
func Machine() int64 {
	room := sysmemory.Room()
	return room - room/16
}

// MachineNote says that a fit is limited to the memory of the machine.
func MachineNote(limit int64) string {
	return fmt.Sprintf("note: the fit may need more memory than is available; it is limited to %d MiB and keeps rows in pages on disk if necessary", limit>>20)
}

// MayExceed reports whether a planned fit may take more than a number of bytes. What the collector of garbage has not collected
// counts: a collection for each of many short fits would take longer than these.
func (f Fit) MayExceed(limit int64) bool {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return Process{Heap: int64(stats.HeapAlloc)}.Memory(f) > limit
}

// A Process says what memory a planned fit finds.
type Process struct {
	Heap     int64 // bytes in use
	Limit    int64 // of the memory, 0 for none
	Paged    bool  // there are pages on disk
	Stored   int64 // bytes in these
	Formulas int64 // bytes that formulas take before the training
	Again    bool  // the fit is a second one
}

// Least returns the memory in bytes that a fit cannot do without.
func (p Process) Least(f Fit) int64 {
	if !p.Paged {
		return withSlack(p.Heap + max(f.Training(), f.Evaluation()) + Runtime)
	}
	least := withSlack(p.Heap + max(f.Training()-f.Rows()+p.inUse(f), p.Formulas) + Runtime)
	if p.Again { // formulas are measured again beside two models
		return withSlack(least)
	}
	return least
}

// Memory returns the bytes that a fit takes if it is not limited: the allocator takes a tenth more than it was asked for.
func (p Process) Memory(f Fit) int64 {
	live := p.Heap + max(f.Training(), f.Evaluation())
	return live/100*int64(100+garbage.Percent(live))/10*11 + Runtime
}

// Garbage returns a limit of the memory that the collector of garbage sees while the solver runs: what gradients and pages leave. The
// collector exceeds it a little.
func (p Process) Garbage(f Fit) int64 {
	return p.Limit - p.Limit/32 - Runtime - f.Gradients() - p.inUse(f)
}

// Refit returns [Process.Least] of a second fit, on a number of rows, beside the model of the first. It opens pages if it needs them.
func (p Process) Refit(f Fit, rows int) int64 {
	f.Train, f.Valid, f.Held, p.Again = rows, 0, 0, true
	for _, a := range f.Field.Arrays() {
		p.Heap += word * int64(len(a))
	}
	least := p.Least(f)
	if p.Paged = paged.Supported; p.Paged {
		least = min(least, p.Least(f))
	}
	return least
}

// inUse returns the bytes of the pages that have to be in memory: two arrays are accessed in any order. Gradients stay in
// memory, so beside large ones pages have no room but that which is left for them.
func (p Process) inUse(f Fit) int64 {
	return min(max(2*word*int64(f.Train), f.Gradients()), f.Rows()+p.Stored, p.Limit/4)
}

// withSlack adds what exceeds a limit before the collector and the pages give it back: 2 to 5 % were
// measured.
func withSlack(bytes int64) int64 { return bytes + bytes/16 }
