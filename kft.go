// Package kft fits tensor trains to big, sparse, multi-way tables: values at
// some cells of store x item x month, user x movie x hour, and the like.
//
// A model is described by a [Spec], fitted by [Fit], kept in one file by
// [Model.Save] and [Load], and asked by [Model.Predict] for single cells or
// [Model.PredictFile] for tables. The value at a cell is
//
//	f(i1, ..., iP) = offset + sum over terms of G1(i1) G2(i2) ... GP(iP),
//
// on a transformed scale where that suits the target. The packages below this
// one do the work: dataset reads tables, tt is the algebra of trains, fit
// trains them, backend runs on the machine, modelfile is the file.
package kft

import (
	"runtime/debug"

	"github.com/kernel-fried-tensor/kft/model"
)

// Spec says what to learn from which table and how. See [model.Spec].
type Spec = model.Spec

// Score measures predictions of one part of the data. See [model.Score].
type Score = model.Score

// Version returns the version of the module the program was built from.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Path == modulePath && info.Main.Version != "" {
			return info.Main.Version
		}
		for _, d := range info.Deps {
			if d.Path == modulePath {
				return d.Version
			}
		}
	}
	return "(devel)"
}

const modulePath = "github.com/kernel-fried-tensor/kft"
