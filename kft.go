// Package kft fits tensor trains to big, sparse, multi-way tables: values at some
// cells of store x item x month, user x movie x hour, and the like. It predicts the
// other cells with calibrated uncertainty.
//
// A [Spec] describes a model, [Fit] trains it on a [Source], [Model.Save] and [Load]
// keep it in one file, and [Model.Predict] and [Model.PredictTable] return
// predictions. The value at a cell is
//
//	f(i1, ..., iP) = offset + sum over terms of G1(i1) G2(i2) ... GP(iP),
//
// on a transformed scale if that suits the target.
//
// This package only joins the packages below it, which can be used on their own:
// spec is the specification, dataset reads tables, train and search fit models, model
// is the fitted model, evaluate measures it, and backend runs on the machine.
package kft

import (
	"github.com/kernel-fried-tensor/kft/internal/buildinfo"
	"github.com/kernel-fried-tensor/kft/spec"
)

// A Spec specifies what to learn, from which table and how. Its zero fields have
// defaults. Package spec documents the fields.
type Spec = spec.Spec

// Sections of a [Spec] and the types of its fields, documented in package spec.
type (
	DataSpec        = spec.Data
	SideSpec        = spec.Side
	UncertaintySpec = spec.Uncertainty
	FitSpec         = spec.Fit
	SearchSpec      = spec.Search
	Lambda          = spec.Lambda
	Variance        = spec.Variance
	PriorMean       = spec.PriorMean
)

// LambdaOf returns a given weight of the penalty. The zero Lambda is chosen on the
// validation set.
func LambdaOf(value float64) Lambda { return spec.LambdaOf(value) }

// VarianceOf returns a given noise or prior variance on the standardised scale. The zero
// Variance is learned. VarianceOf panics if the value is not finite and above 0.
func VarianceOf(value float64) Variance { return spec.VarianceOf(value) }

// PriorMeanOf returns a given prior mean of the free weights. The zero PriorMean is 1 for
// weighted regressions and 0 otherwise. PriorMeanOf panics if the value is not finite.
func PriorMeanOf(value float64) PriorMean { return spec.PriorMeanOf(value) }

// ParseSpec reads a specification in YAML or JSON. The name is that of the file, for
// messages. It checks the syntax, the keys, the types of the values and the version, and
// returns everything that is wrong with them as [Problems]. [Fit] checks the values. The
// warnings name deprecated keys and values.
func ParseSpec(data []byte, name string) (s Spec, warnings []string, err error) {
	return spec.Parse(data, name)
}

// Version returns the version of the module that the program was built from.
func Version() string { return buildinfo.Version() }
