package sideinfo

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/kernel"
)

// EigenLimit is the number of entities up to which a dual operator comes from
// the kernel matrix itself, n^2 float32, and above which it comes from pivots.
const EigenLimit = 6000

// Dual returns a whitened factor of the kernel matrix: L with K + c = L L' up to
// what opt.Columns columns can hold. The prior on W then gives T = L W the
// covariance K + c.
//
// Up to EigenLimit entities the columns span the leading eigenvectors, found by
// randomised block iteration in O(n^2 m). Above, or where opt.Learn asks for a
// kernel that can be learned, they come from greedily chosen pivots in
// O(n m (m + C)) and no more memory than L.
func Dual(f Features, k kernel.Kernel, opt Options) (Operator, []string, error) {
	const kind = "dual"
	k, informative, err := fitted(kind, f, k, opt)
	if err != nil {
		return nil, nil, err
	}
	if !informative {
		return nothing(kind, f, opt), []string{onlyIntercept}, nil
	}
	var notices []string
	m := opt.columns()
	if m > f.N {
		if opt.Columns > 0 {
			notices = append(notices, fmt.Sprintf("%d columns asked for %d entities: %d are kept, the kernel matrix has no more", m, f.N, f.N))
		}
		m = f.N
	}
	var bs basis
	var room []float32
	if opt.Learn || f.N > EigenLimit {
		room = make([]float32, f.N*(m+1)) // the choice of pivots needs as much as the matrix
		bs, err = newPivots(opt.Backend, k, f.rows(), m, room)
	} else {
		bs, err = newEigen(opt.Backend, k, f.rows(), m, opt.Seed)
	}
	if err != nil {
		return nil, nil, err
	}
	if got := bs.columns(); got < m {
		notices = append(notices, fmt.Sprintf("%d columns hold the kernel matrix %s of %d entities to working precision; %d were allowed", got, k, f.N, m))
	}
	return newOperator(kind, f, opt, bs, room), notices, nil
}
