package footprint_test

import (
	"testing"

	"github.com/kernel-fried-tensor/kft/footprint"
	"github.com/kernel-fried-tensor/kft/tt"
)

// A second fit needs more than the first, and the collector has less than the limit leaves beside what it does not see.
func TestProcess(t *testing.T) {
	t.Parallel()
	field, _ := field(t, 1000, tt.MeanField)
	f := footprint.Fit{Field: field, Train: 1_000_000, Valid: 100_000, Threads: 2}
	p := footprint.Process{Heap: 10 << 20, Limit: 200 << 20, Paged: true}
	first, again := p.Least(f), p.Refit(f, 1_500_000)
	if again <= first {
		t.Errorf("got %d bytes for a second fit and %d for the first", again, first)
	}
	if got, most := p.Garbage(f), p.Limit-footprint.Runtime-f.Gradients()-8*1_000_000; got >= most || got < most*9/10 {
		t.Errorf("got a limit of %d bytes for garbage; %d are left", got, most)
	}
	p.Paged = false
	if got := p.Least(f); got <= first {
		t.Errorf("got %d bytes without pages and %d with them", got, first)
	}
}

// A fit is checked against the memory of the machine from an estimate that is not too small.
func TestMayExceed(t *testing.T) {
	t.Parallel()
	field, _ := field(t, 1000, tt.MeanField)
	f := footprint.Fit{Field: field, Train: 1_000_000, Valid: 100_000, Threads: 2}
	if need := f.Training() + footprint.Runtime; !f.MayExceed(need) || f.MayExceed(1<<40) {
		t.Errorf("a fit that needs %d bytes: exceeds them %t, exceeds a tebibyte %t", need, f.MayExceed(need), f.MayExceed(1<<40))
	}
	if got := footprint.Machine(); got < footprint.Runtime {
		t.Errorf("got %d bytes for the memory of the machine", got)
	}
}
