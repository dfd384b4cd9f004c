package sideinfo

import (
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// PlaceboKinds returns the kinds of placebos.
func PlaceboKinds() []string { return []string{"constant", "noise"} }

// Placebo returns features of the same shape that carry no information, as a control
// for side information. The kind constant sets all values to 1; noise draws them
// from N(0, 1).
func Placebo(kind string, f Features, seed uint64) (Features, error) {
	if !slices.Contains(PlaceboKinds(), kind) {
		return Features{}, fielderr.Errorf("side.placebo", "unknown placebo %q%s; use constant or noise", kind, suggest.Hint(kind, PlaceboKinds()))
	}
	f.X = make([]float32, f.N*f.C)
	source := randstream.New(seed, "side noise "+strings.Join(f.Names, ",")) // an independent stream per table
	for i := range f.X {
		if f.X[i] = 1; kind == "noise" {
			f.X[i] = float32(source.NormFloat64())
		}
	}
	return f, nil
}
