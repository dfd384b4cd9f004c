package cpu

import "github.com/kernel-fried-tensor/kft/backend"

// The gradient with respect to the covariances of the far core of a batch is, for every
// entity, the sum of v (x x' + C) over its cells, where x and C are the moments of the
// product of the other two cores. With rows G_i of the slice and the sums of the node,
//
//	sum v (x x' + C) = sum v x x' + 1/2 (sum_i ghat_i G_i G_i' + diag hhat):
//
// R^2 multiply-adds per cell and R^3 per node, and no plan with the far core as leaf core.

// farCovarianceCells adds v x x' of some cells of a node, the i-th of the batch. The
// adjoints v of their variances are doubled.
func (r *momentSweep) farCovarianceCells(grad []float32, idx []int32, v []float32) {
	x, k := &r.batch, &r.b.chain
	n := len(idx) * x.inRow
	x.panel, x.scaledPanel = resize(x.panel, block*x.inRow), resize(x.scaledPanel, block*x.inRow)
	k.gatherRows(x.panel[:n], x.x, idx, nil, x.inRow)
	scaled, alpha := x.panel, float32(0.5)
	if r.job.Weight == nil && r.job.Adjoint != backend.Given {
		alpha *= v[0]
	} else {
		k.gatherRows(x.scaledPanel[:n], x.x, idx, v, x.inRow)
		scaled = x.scaledPanel
	}
	r.b.dense.scaled(alpha, grad, x.in, scaled, 1, x.inRow, x.panel, x.inRow, x.in, x.in, len(idx), 1)
}

// farCovarianceNodes adds C of nodes [j, end), given hhat in farVarHat.
func (r *momentSweep) farCovarianceNodes(j, end int) {
	x, first := &r.batch, &r.levels[0]
	size := x.in * x.in
	x.scaledPanel = resize(x.scaledPanel, max(block*x.inRow, x.out*x.in))
	for i, e := range first.entity[j:end] {
		grad := first.gradCov[int(e)*size:][:size]
		if r.leaf.core.Var != nil {
			g := x.varsHat[i*x.width+x.out:][:x.out]
			for a, v := range g {
				row := x.scaledPanel[a*x.in:][:x.in]
				for b, w := range x.slice.reverse[a*x.in:][:x.in] {
					row[b] = v * w
				}
			}
			r.b.dense.scaled(0.5, grad, x.in, x.scaledPanel, 1, x.in, x.slice.reverse, x.in, x.in, x.in, x.out, 1)
		}
		for a, v := range x.farVarHat[i*x.inRow:][:x.in] {
			grad[a*x.in+a] += v / 2
		}
	}
}
