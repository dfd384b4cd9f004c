package kernel

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// constant is the kernel 1. Its size is its weight in a sum.
type constant struct{}

// Constant returns the kernel 1; in a sum it is an intercept.
func Constant() Kernel { return constant{} }

func (constant) String() string            { return "constant" }
func (constant) At(x, z []float64) float64 { return 1 }
func (constant) Diagonal() float64         { return 1 }
func (constant) Params() []float64         { return nil }
func (constant) SetParams(p []float64)     { checkParams(len(p), 0) }
func (constant) ParamNames() []string      { return nil }
func (constant) Clone() Kernel             { return constant{} }
func (constant) bind(Columns) error        { return nil }
func (constant) bases() []*base            { return nil }
func (constant) precedence() int           { return 2 }

// composite is the common part of sums and products.
type composite struct{ parts []Kernel }

func (s composite) bases() (all []*base) {
	for _, k := range s.parts {
		all = append(all, k.bases()...)
	}
	return all
}

func (s composite) params() (all []float64) {
	for _, k := range s.parts {
		all = append(all, k.Params()...)
	}
	return all
}

func (s composite) setParams(p []float64) {
	for _, k := range s.parts {
		n := len(k.Params())
		k.SetParams(p[:n])
		p = p[n:]
	}
}

func (s composite) paramNames() (all []string) {
	for _, k := range s.parts {
		all = append(all, k.ParamNames()...)
	}
	return all
}

func (s composite) clone() composite {
	c := composite{make([]Kernel, len(s.parts))}
	for i, k := range s.parts {
		c.parts[i] = k.Clone()
	}
	return c
}

func (s composite) bind(c Columns) error {
	for _, k := range s.parts {
		if err := k.bind(c); err != nil {
			return err
		}
	}
	return nil
}

func (s composite) join(sign string, precedence int) string {
	var b strings.Builder
	for i, k := range s.parts {
		if i > 0 {
			b.WriteString(sign)
		}
		if k.precedence() < precedence {
			fmt.Fprintf(&b, "(%s)", k)
		} else {
			b.WriteString(k.String())
		}
	}
	return b.String()
}

// sum is sum_t weight_t k_t. Its parameters are the logarithms of the weights,
// followed by those of the parts.
type sum struct {
	composite
	logWeight []float64
}

// Sum returns the mean of the kernels: a sum of n terms with weights 1/n. The
// weights are parameters.
func Sum(kernels ...Kernel) Kernel {
	switch len(kernels) {
	case 0:
		panic("kernel: Sum needs at least one kernel")
	case 1:
		return kernels[0]
	}
	s := (&sum{composite: composite{kernels}}).Clone().(*sum)
	s.setEqualWeights()
	return s
}

func (k *sum) setEqualWeights() {
	k.logWeight = make([]float64, len(k.parts))
	for i := range k.logWeight {
		k.logWeight[i] = -math.Log(float64(len(k.parts)))
	}
}

func (k *sum) String() string  { return k.join("+", 1) }
func (k *sum) precedence() int { return 0 }

func (k *sum) At(x, z []float64) (v float64) {
	for t, part := range k.parts {
		v += math.Exp(k.logWeight[t]) * part.At(x, z)
	}
	return v
}

func (k *sum) Diagonal() (v float64) {
	for t, part := range k.parts {
		v += math.Exp(k.logWeight[t]) * part.Diagonal()
	}
	return v
}

func (k *sum) Params() []float64 { return append(slices.Clone(k.logWeight), k.params()...) }

func (k *sum) SetParams(p []float64) {
	checkParams(len(p), len(k.Params()))
	copy(k.logWeight, p)
	k.setParams(p[len(k.logWeight):])
}

func (k *sum) ParamNames() []string {
	var names []string
	for _, part := range k.parts {
		names = append(names, "weight of "+part.String())
	}
	return append(names, k.paramNames()...)
}

func (k *sum) Clone() Kernel { return &sum{k.clone(), slices.Clone(k.logWeight)} }

func (k *sum) bind(c Columns) error {
	k.setEqualWeights()
	return k.composite.bind(c)
}

// product is the product of its parts.
type product struct{ composite }

// Product returns the product of the kernels.
func Product(kernels ...Kernel) Kernel {
	switch len(kernels) {
	case 0:
		panic("kernel: Product needs at least one kernel")
	case 1:
		return kernels[0]
	}
	var parts []Kernel
	for _, k := range kernels {
		if p, nested := k.(*product); nested {
			parts = append(parts, p.parts...)
		} else {
			parts = append(parts, k)
		}
	}
	return (&product{composite{parts}}).Clone()
}

func (k *product) String() string        { return k.join("*", 1) }
func (k *product) precedence() int       { return 1 }
func (k *product) Params() []float64     { return k.params() }
func (k *product) ParamNames() []string  { return k.paramNames() }
func (k *product) Clone() Kernel         { return &product{k.clone()} }
func (k *product) SetParams(p []float64) { checkParams(len(p), len(k.params())); k.setParams(p) }

func (k *product) At(x, z []float64) float64 {
	v := 1.0
	for _, part := range k.parts {
		v *= part.At(x, z)
	}
	return v
}

func (k *product) Diagonal() float64 {
	v := 1.0
	for _, part := range k.parts {
		v *= part.Diagonal()
	}
	return v
}
