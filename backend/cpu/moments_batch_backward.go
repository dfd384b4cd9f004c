package cpu

import "github.com/kernel-fried-tensor/kft/backend"

// needsLeafAdjoints reports whether the adjoints of the leaf core are needed.
func (r *momentSweep) needsLeafAdjoints() bool {
	return r.leaf.gradMean != nil || r.leaf.gradVar != nil
}

// batchCells processes the cells of node j, the i-th of the batch: it computes
// their moments and adjoints and adds the adjoints to those of the rows and of
// the node. It returns the loss.
func (r *momentSweep) batchCells(j, i int) float64 {
	x, k, job := &r.batch, &r.b.chain, r.job
	n := len(x.entities)
	u, w := x.mean[i*x.outRow:][:x.outRow], x.vars[i*x.width:][:x.width]
	var uHat, wHat, rowsHat, quadHat, xHat []float32
	if job.Adjoint != backend.None {
		if i == 0 && r.needsLeafAdjoints() {
			clear(x.rowsHat[:n*x.outRow])
			clear(x.quadHat[:n*x.width])
		} else if i == 0 {
			clear(x.xHat[:n*x.inRow])
		}
		if r.gradLevel <= 1 {
			uHat, wHat = x.rows[(n+i)*x.outRow:][:x.outRow], x.varsHat[i*x.width:][:x.width]
			clear(uHat)
			clear(wHat)
		}
		if r.leaf.gradMean != nil {
			rowsHat = x.rowsHat
		}
		if r.needsLeafAdjoints() {
			quadHat = x.quadHat
		} else if r.levels[1].gradMean != nil && x.varies[0] {
			xHat = x.xHat
		}
	}
	first := int(r.p.Start[j-i]) // the first cell of the batch
	loss := 0.0
	for c, last := int(r.p.Start[j]), int(r.p.Start[j+1]); c < last; c += block {
		end := min(c+block, last)
		idx := x.local[c-first : end-first]
		mean, variance := r.leaf.mean[:end-c], r.leaf.variance[:end-c]
		if job.Adjoint != backend.Given || job.Mean != nil || job.Var != nil {
			k.dots(mean, x.rows, idx, u)
			if job.GradientsOnly && job.Var == nil {
				clear(variance) // it does not change the adjoints
			} else {
				k.dots(variance, x.quad, idx, w)
			}
		}
		r.leaf.writeMoments(job, c, end)
		if job.Adjoint == backend.None {
			continue
		}
		e, v, part := r.leaf.adjoints(r.b, job, c, end, 2)
		loss += part
		k.adjoints(uHat, rowsHat, x.rows, idx, e, u)
		if !x.meansOnly {
			k.adjoints(wHat, quadHat, x.quad, idx, v, w)
		} else if x.varies[1] {
			k.gatherSum(wHat[x.out:][:x.out], r.leaf.core.Var, r.p.LeafEntity[c:end], v) // ghat
		}
		if xHat != nil {
			k.scatterAdd(xHat, idx, v, x.farVar[i*x.inRow:][:x.inRow])
		}
		if grad := r.levels[0].gradCov; grad != nil {
			r.farCovarianceCells(grad[int(r.levels[0].entity[j])*x.in*x.in:][:x.in*x.in], idx, v)
		}
	}
	return loss
}

// adjoints adds the adjoints e of the products rows[idx[c]] . w to those of w
// and of the rows, unless these are nil.
func (k *chainKernels) adjoints(wHat, rowsHat, rows []float32, idx []int32, e, w []float32) {
	switch {
	case wHat != nil && rowsHat != nil:
		k.gatherScatter(wHat, rowsHat, rows, idx, e, w)
	case wHat != nil:
		k.gatherSum(wHat, rows, idx, e)
	case rowsHat != nil:
		k.scatterAdd(rowsHat, idx, e, w)
	}
}

// backwardBatch propagates the adjoints of nodes [j, end) and of their rows to
// the gradients.
func (r *momentSweep) backwardBatch(j, end int) {
	if r.job.Adjoint == backend.None {
		return
	}
	if r.needsLeafAdjoints() {
		r.backwardRows()
	} else if x := &r.batch; r.levels[1].gradMean != nil {
		n := len(x.entities) * x.inRow
		r.b.chain.product(x.xHat[:n], x.xHat[:n], x.x)
	}
	if r.gradLevel <= 1 {
		r.backwardNodes(j, end)
	}
	if r.gradLevel == 0 {
		r.backwardFar(j, end)
	}
}

// backwardRows sets the adjoint of x and adds those of the leaf core's rows.
func (r *momentSweep) backwardRows() {
	x, k, leaf := &r.batch, &r.b.chain, &r.leaf
	n := len(x.entities)
	for i := range n {
		q := x.quadHat[i*x.width:][:x.width]
		k.product(x.xHat[i*x.inRow:][:x.in], q[2*x.out:], x.x[i*x.inRow:])
		if leaf.gradMean != nil {
			k.addProduct(x.rowsHat[i*x.outRow:][:x.out], q, x.rows[i*x.outRow:])
		}
	}
	if leaf.gradMean != nil {
		r.b.dense.multiply(x.rowsHat, x.outRow, x.xHat, x.inRow, 1, x.slice.forward, x.out, n, x.out, x.in, 1)
		for i, e := range x.entities {
			k.add(leaf.gradMean[int(e)*x.out:][:x.out], x.rowsHat[i*x.outRow:][:x.out])
		}
	}
	if leaf.gradVar != nil {
		for i, e := range x.entities {
			k.axpy(leaf.gradVar[int(e)*x.out:][:x.out], 0.5, x.quadHat[i*x.width+x.out:][:x.out])
		}
	}
}

// backwardNodes completes the adjoints of u and d and adds those of the slice:
//
//	uhat += 2 u ghat,   dhat += ghat,
//	Ghat += m1'xhat + uhat m3' + 2 G (ghat s3'),   Shat += dhat h'.
func (r *momentSweep) backwardNodes(j, end int) {
	x, k, second := &r.batch, &r.b.chain, &r.levels[1]
	n, m := len(x.entities), end-j
	gHat := x.varsHat[x.out:]
	for i := range m {
		g := gHat[i*x.width:][:x.out]
		k.addProduct(x.rows[(n+i)*x.outRow:][:x.out], x.mean[i*x.outRow:], g)
		k.add(x.varsHat[i*x.width:][:x.out], g)
	}
	at := int(second.entity[j]) * second.size
	if second.gradMean != nil {
		grad := second.gradMean[at:][:second.size]
		copy(x.xHat[n*x.inRow:][:m*x.inRow], x.far)
		r.outer(1, grad, x.rows, x.outRow, x.xHat, x.inRow, n+m, 1)
		r.outer(1, x.sliceHat, gHat, x.width, x.farVar, x.inRow, m, 0)
		k.addProduct(grad, x.sliceHat, second.core.Mean[at:])
	}
	if second.gradVar != nil {
		r.outer(0.5, second.gradVar[at:][:second.size], x.varsHat, x.width, x.farSquare, x.inRow, m, 1)
	}
}

// outer sets dst, in the form of a slice, to alpha times the sum over n rows of
// the outer products of the rows of after and before, plus beta dst.
func (r *momentSweep) outer(alpha float32, dst, after []float32, afterRow int, before []float32, beforeRow, n int, beta float32) {
	x, d := &r.batch, &r.b.dense
	if r.p.Leaf == 0 {
		d.scaled(alpha, dst, x.in, after, 1, afterRow, before, beforeRow, x.out, x.in, n, beta)
	} else {
		d.scaled(alpha, dst, x.out, before, 1, beforeRow, after, afterRow, x.in, x.out, n, beta)
	}
}

// backwardFar adds the adjoints of the far core's rows:
//
//	hhat = S'dhat,   m3hat += G'uhat + 2 m3 hhat,   s3hat += (x^2) + (G^2)'ghat + hhat.
func (r *momentSweep) backwardFar(j, end int) {
	x, k, first := &r.batch, &r.b.chain, &r.levels[0]
	n, m := len(x.entities), end-j
	mul := r.b.dense.multiply
	mul(x.farVarHat, x.inRow, x.varsHat, x.width, 1, x.slice.reverseVar, x.in, m, x.in, x.out, 0)
	if first.gradCov != nil {
		r.farCovarianceNodes(j, end)
	}
	if first.gradMean != nil {
		mul(x.farHat, x.inRow, x.rows[n*x.outRow:], x.outRow, 1, x.slice.reverse, x.in, m, x.in, x.out, 0)
		k.addProduct(x.farHat[:m*x.inRow], x.far, x.farVarHat)
		for i, e := range first.entity[j:end] {
			k.add(first.gradMean[int(e)*x.in:][:x.in], x.farHat[i*x.inRow:][:x.in])
		}
	}
	if first.gradVar == nil {
		return
	}
	mul(x.farVarHat, x.inRow, x.varsHat[x.out:], x.width, 1, x.slice.reverseSquare, x.in, m, x.in, x.out, 1)
	for i, e := range first.entity[j:end] {
		k.add(x.farVarHat[i*x.inRow:][:x.in], x.varsHat[i*x.width+2*x.out:][:x.in])
		k.axpy(first.gradVar[int(e)*x.in:][:x.in], 0.5, x.farVarHat[i*x.inRow:][:x.in])
	}
}
