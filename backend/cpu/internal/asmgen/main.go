// Command asmgen writes the assembly of package cpu. Every kernel is a short Go
// function that emits instructions, so that the many register tiles of one
// kernel come from one loop. Run it with go generate in backend/cpu; a test
// fails if a committed file differs from the output of the generator.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// files maps each generated file to the functions that emit its kernels, in
// order.
var files = map[string][]func(*Asm){
	"peak_amd64.s":    {peakAVX512, peakAVX2},
	"vecmath_amd64.s": {exp512, cos512, exp256, cos256},
	"gram512_amd64.s": {gram512},
	"gemm512_amd64.s": {tiles512x2, tiles512x1},
	"gemm256_amd64.s": {tiles256x2, tiles256x1, transpose8},
}

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	for name := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(generate(name)), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "asmgen:", err)
			os.Exit(1)
		}
	}
}

// generate returns the text of one file.
func generate(name string) string {
	a := newAsm()
	for _, emit := range files[name] {
		emit(a)
	}
	return a.String()
}
