// Chaingen generates the chain kernels, the inner loops of a pass over sparse
// observations of a tensor train: assembly for AVX-512 and AVX2, and the Go
// code that calls it.
//
// A kernel is written once, over an abstract row (shape), and unrolled for
// every row length that has code of its own. The instruction set (isa)
// determines the shapes.
//
// Run it with go generate in backend/cpu.
package main

import (
	"fmt"
	"os"
)

func main() {
	for name, text := range files() {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "chaingen:", err)
			os.Exit(1)
		}
	}
}

// files returns the content of all generated files, by name in backend/cpu.
func files() map[string]string {
	all := make(map[string]string)
	for _, set := range []isa{avx512, avx2} {
		all["chain_"+set.lower+"_amd64.s"] = assembly(set)
		all["chain_"+set.lower+"_amd64.go"] = wrappers(set)
	}
	return all
}

// assembly returns the kernels of one instruction set.
func assembly(set isa) string {
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
	g.product("Product", false)
	g.product("AddProduct", true)
	g.dot()
	return g.out.String()
}
