package sideinfo

import (
	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// PrimalFourier returns the operator of about opt.Columns random Fourier features of
// a kernel. Inner products of rows converge to the kernel. It costs n C m/2
// multiply-adds and forms no kernel matrix.
func PrimalFourier(f Features, k kernel.Kernel, opt Options) (Operator, []string, error) {
	return fourier("primal-rff", f, k, opt)
}

// DualFourier returns the same matrix, regarded as a factor of the kernel matrix.
// With random features, primal and dual coincide.
func DualFourier(f Features, k kernel.Kernel, opt Options) (Operator, []string, error) {
	return fourier("dual-rff", f, k, opt)
}

func fourier(kind string, f Features, k kernel.Kernel, opt Options) (Operator, []string, error) {
	k, informative, err := bindKernel(kind, f, k, opt)
	if err != nil {
		return nil, nil, err
	}
	if !informative {
		return interceptOnly(kind, f, opt), []string{onlyIntercept}, nil
	}
	bs := fourierBasis{k: k, features: opt.columns()}
	if bs.features < 2 {
		return nil, nil, fielderr.Errorf("side.columns", "space %s with %d column: random features come in pairs; use at least 2 columns", kind, bs.features)
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

// bindKernel binds a kernel to the columns, sets its initial length-scales to the
// median distance, and reports whether the kernel distinguishes any two entities.
func bindKernel(kind string, f Features, k kernel.Kernel, opt Options) (kernel.Kernel, bool, error) {
	if err := f.usable(kind, opt); err != nil {
		return nil, false, err
	}
	k, err := kernel.Bind(k, f.columns())
	if err != nil {
		return nil, false, fielderr.Errorf("side.kernels", "%w", err)
	}
	kernel.InitLengthScales(k, f.rows(), opt.Seed)
	informative := false
	for c, varies := range f.varying() {
		informative = informative || varies && kernel.UsesColumn(k, c)
	}
	return k, informative, nil
}

// interceptOnly returns the operator of a kernel that distinguishes no two entities.
// Its kernel matrix is constant, which the column of ones represents.
func interceptOnly(kind string, f Features, opt Options) *operator {
	opt.NoIntercept = false
	return newOperator(kind, f, opt, &linear{}, nil)
}

// fourierBasis is the basis of random Fourier features of a kernel.
type fourierBasis struct {
	fixed
	k        kernel.Kernel
	features int
	spectrum *kernel.Spectrum
}

func (w *fourierBasis) form() string           { return "fourier" }
func (w *fourierBasis) columns() int           { return w.spectrum.Columns() }
func (w *fourierBasis) learned() kernel.Kernel { return w.k }

func (w *fourierBasis) fill(b backend.Backend, dst []float32, stride int, x kernel.Rows, _ *scratch) {
	w.spectrum.Features(b, dst, stride, x)
}

func (w *fourierBasis) gradient(b backend.Backend) gradientSum {
	return &fourierGradient{w, b, make([]float64, len(w.k.Params()))}
}

type fourierGradient struct {
	*fourierBasis
	b     backend.Backend
	total []float64
}

func (p *fourierGradient) add(grad []float32, stride int, x kernel.Rows) {
	for i, g := range p.spectrum.ParamGradient(p.b, grad, stride, x) {
		p.total[i] += g
	}
}

func (p *fourierGradient) finish() []float64 { return p.total }
