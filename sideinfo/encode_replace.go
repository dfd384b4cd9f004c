package sideinfo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// ReplaceKinds are the kinds of Replace.
func ReplaceKinds() []string { return []string{"constant", "noise"} }

// Replace returns features of the same shape that say nothing, for experiments on
// robustness: constant makes all values 1, noise draws them from N(0, 1).
func Replace(kind string, f Features, seed uint64) (Features, error) {
	if !slices.Contains(ReplaceKinds(), kind) {
		return Features{}, fmt.Errorf("unknown replacement %q%s of side information; write constant or noise", kind, suggest.Hint(kind, ReplaceKinds()))
	}
	f.X = make([]float32, f.N*f.C)
	source := randstream.New(seed, "side noise "+strings.Join(f.Names, ",")) // tables draw apart
	for i := range f.X {
		if f.X[i] = 1; kind == "noise" {
			f.X[i] = float32(source.NormFloat64())
		}
	}
	return f, nil
}
