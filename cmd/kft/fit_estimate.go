package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
)

// byteSize is a number of bytes, as in 2GiB.
type byteSize int64

// byteUnits are the units of a byteSize.
var byteUnits = []struct {
	name  string
	bytes float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}}

// UnmarshalText reads a size.
func (b *byteSize) UnmarshalText(text []byte) error {
	number, factor := string(text), 0.0
	for _, u := range byteUnits {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, factor = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || factor == 0 || !(v > 0) || v*factor >= math.MaxInt64 {
		return fmt.Errorf("%q is not a size; use a number above 0 with a unit, as in 2GiB or 500MiB", text)
	}
	*b = byteSize(v * factor)
	return nil
}

// programBytes is memory of the process that the collection of garbage cannot see.
const programBytes = 48 << 20

// writeEstimate prints what a fit needs.
func (c *fitCommand) writeEstimate(e *env, estimate *kft.Estimate, err error) error {
	if estimate == nil {
		return c.explain(err)
	}
	if c.JSON {
		if failed := writeJSON(e.stdout, estimate); failed != nil {
			return failed
		}
		return err
	}
	fmt.Fprintf(e.stdout, "Rows: %s train, %s valid, %s test; %s weights\n", textformat.Count(estimate.Rows[0]), textformat.Count(estimate.Rows[1]), textformat.Count(estimate.Rows[2]), textformat.Count(estimate.Weights))
	if estimate.Disk > 0 {
		fmt.Fprintf(e.stdout, "Memory: at most %s, at least %s; about %s in pages on disk\n", textformat.Bytes(estimate.Limit), textformat.Bytes(estimate.Least), textformat.Bytes(estimate.Disk))
	} else {
		fmt.Fprintf(e.stdout, "Memory: about %s; at least %s without pages on disk\n", textformat.Bytes(estimate.Memory), textformat.Bytes(estimate.Least))
	}
	if estimate.SweepSeconds > 0 {
		fmt.Fprintf(e.stdout, "Time: %.2g s per sweep on %s, at most %s\n", estimate.SweepSeconds, textformat.Plural(estimate.Threads, "thread"), textformat.Plural(estimate.Sweeps, "sweep"))
	}
	return err
}
