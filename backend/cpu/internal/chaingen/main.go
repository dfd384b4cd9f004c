// Chaingen writes the assembly of the chain kernels: the inner loops of a pass
// over sparse observations of a tensor train, for AVX-512 and for AVX2.
//
// A kernel is written once, over an abstract row (shape), and unrolled for
// every row length that deserves registers of its own; the set of instructions
// (isa) says how a vector is loaded, stored and cut at the end of a row.
//
// Run it by go generate in backend/cpu.
package main

import (
	"fmt"
	"os"
)

func main() {
	for _, set := range []isa{avx512, avx2} {
		if err := os.WriteFile(fileName(set), []byte(generate(set)), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "chaingen:", err)
			os.Exit(1)
		}
	}
}

func fileName(set isa) string { return "chain_" + set.lower + "_amd64.s" }

// generate returns the assembly file of one set of instructions.
func generate(set isa) string {
	g := &generator{isa: set}
	g.header()
	g.dots(true)
	g.dots(false)
	g.sweep(sweep{name: "GatherSum", gather: true, indexed: true})
	g.sweep(sweep{name: "ScatterAdd", scatter: true, indexed: true})
	g.sweep(sweep{name: "GatherScatter", gather: true, scatter: true, indexed: true})
	g.sweep(sweep{name: "VecMat", gather: true})
	g.sweep(sweep{name: "Rank1", scatter: true})
	g.gatherRows()
	g.axpy()
	g.dot()
	return g.out.String()
}
