package sideinfo

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/kernel"
)

// EigenLimit is the largest number of entities for which an operator forms the
// kernel matrix, n^2 float32. For more entities a dual operator uses pivots.
const EigenLimit = 6000

// Dual returns a whitened factor of the kernel matrix: L with K + c = L L', up to
// the truncation to opt.Columns columns. The prior on W then gives T = L W the
// covariance K + c.
//
// Up to EigenLimit entities the columns span the leading eigenvectors, found by
// randomised block iteration in O(n^2 m). For more entities, or if opt.Learn
// requests a kernel that can be learned, they come from greedily chosen pivots in
// O(n m (m + C)) and no more memory than L.
func Dual(f Features, k kernel.Kernel, opt Options) (Operator, []string, error) {
	const kind = "dual"
	k, informative, err := bindKernel(kind, f, k, opt)
	if err != nil {
		return nil, nil, err
	}
	if !informative {
		return interceptOnly(kind, f, opt), []string{onlyIntercept}, nil
	}
	var notices []string
	m := opt.columns()
	if m > f.N {
		if opt.Columns > 0 {
			notices = append(notices, fmt.Sprintf("%d columns requested for %d entities; using %d, the size of the kernel matrix", m, f.N, f.N))
		}
		m = f.N
	}
	var bs basis
	var room []float32
	if opt.Learn || f.N > EigenLimit {
		room = make([]float32, f.N*(m+1)) // first for the choice of pivots, then for the matrix
		bs, err = newPivots(opt.Backend, k, f.rows(), m, room)
	} else {
		bs, err = newEigen(opt.Backend, k, f.rows(), m, opt.Seed)
	}
	if err != nil {
		return nil, nil, err
	}
	if got := bs.columns(); got < m {
		notices = append(notices, fmt.Sprintf("%d of %d columns represent the kernel matrix %s of %d entities to working precision", got, m, k, f.N))
	}
	return newOperator(kind, f, opt, bs, room), notices, nil
}
