package sideinfo

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// PrimalFourier returns the operator of random Fourier features of a kernel,
// about opt.Columns of them: inner products of rows converge to the kernel, at
// the cost of n C m/2 multiply-adds and no kernel matrix.
func PrimalFourier(f Features, k kernel.Kernel, opt Options) (Operator, []string, error) {
	return fourier("primal-rff", f, k, opt)
}

// DualFourier is the same matrix, taken as a factor of the kernel matrix: with
// random features primal and dual coincide.
func DualFourier(f Features, k kernel.Kernel, opt Options) (Operator, []string, error) {
	return fourier("dual-rff", f, k, opt)
}

func fourier(kind string, f Features, k kernel.Kernel, opt Options) (Operator, []string, error) {
	k, informative, err := fitted(kind, f, k, opt)
	if err != nil {
		return nil, nil, err
	}
	if !informative {
		return nothing(kind, f, opt), []string{onlyIntercept}, nil
	}
	bs := waves{k: k, features: opt.columns()}
	if bs.features < 2 {
		return nil, nil, fmt.Errorf("%s with %d column: random features come in pairs, give at least 2", kind, bs.features)
	}
	bs.spectrum = kernel.SampleSpectrum(k, bs.features, randstream.New(opt.Seed, "random features"))
	return newOperator(kind, f, opt, &bs, nil), nil, nil
}

func (o Options) columns() int {
	if o.Columns == 0 {
		return DefaultColumns
	}
	return o.Columns
}

// fitted binds a kernel to the columns, starts its length-scales at the median
// distance, and reports whether it tells any two entities apart.
func fitted(kind string, f Features, k kernel.Kernel, opt Options) (kernel.Kernel, bool, error) {
	if err := f.usable(kind, opt); err != nil {
		return nil, false, err
	}
	k, err := kernel.Bind(k, f.columns())
	if err != nil {
		return nil, false, err
	}
	kernel.InitLengthScales(k, f.rows(), opt.Seed)
	informative := false
	for c, varies := range f.varying() {
		informative = informative || varies && kernel.UsesColumn(k, c)
	}
	return k, informative, nil
}

// nothing is the operator of a kernel that tells no two entities apart: its
// matrix is constant, which is what the column of ones is.
func nothing(kind string, f Features, opt Options) *operator {
	opt.NoIntercept = false
	return newOperator(kind, f, opt, &linear{}, nil)
}

// waves is the basis of random Fourier features.
type waves struct {
	fixed
	k        kernel.Kernel
	features int
	spectrum *kernel.Spectrum
}

func (w *waves) form() string           { return "fourier" }
func (w *waves) columns() int           { return w.spectrum.Columns() }
func (w *waves) learned() kernel.Kernel { return w.k }

func (w *waves) fill(b backend.Backend, dst []float32, stride int, x kernel.Rows, _ *scratch) {
	w.spectrum.Features(b, dst, stride, x)
}

func (w *waves) pull(b backend.Backend) puller {
	return &wavesPull{w, b, make([]float64, len(w.k.Params()))}
}

type wavesPull struct {
	*waves
	b     backend.Backend
	total []float64
}

func (p *wavesPull) add(grad []float32, stride int, x kernel.Rows) {
	for i, g := range p.spectrum.ParamGradient(p.b, grad, stride, x) {
		p.total[i] += g
	}
}

func (p *wavesPull) finish() []float64 { return p.total }
