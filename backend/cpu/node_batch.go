package cpu

import "github.com/kernel-fried-tensor/kft/backend"

// maxBatchNodes is the largest number of nodes of a batch.
const maxBatchNodes = 64

// nodeBatch is scratch memory for consecutive nodes with the same entity of the
// chain's second core, in the usual case of three cores. With C the rows of the
// first core at these nodes, G the slice and U the adjoints of the vectors of
// the nodes,
//
//	V = C G',   dG += U'C,   dC = U G
//
// (G' and G are exchanged if the leaf core is the last). These are three small
// matrix products instead of matrix-vector products per node.
type nodeBatch struct {
	below, value, adjoint, belowHat, transposed []float32
}

func (b *nodeBatch) prepare(in, stride, size int) {
	b.below, b.belowHat = resize(b.below, maxBatchNodes*in), resize(b.belowHat, maxBatchNodes*in)
	b.value, b.adjoint = resize(b.value, maxBatchNodes*stride), resize(b.adjoint, maxBatchNodes*stride)
	b.transposed = resize(b.transposed, size)
	clear(b.value) // the padding after the rank stays zero
}

// batchEnd returns the end of the batch that starts at node j. The entities of the first
// level increase within a part of the leaf entities.
func batchEnd(p *backend.Plan, j, to int) int {
	end := j + 1
	for first, second := p.Entity[0], p.Entity[1]; end < min(to, j+maxBatchNodes) && second[end] == second[j] && first[end] > first[end-1]; {
		end++
	}
	return end
}

// batches processes nodes [from, to) of a chain of two cores whose second core
// is the owner.
func (r *sweep) batches(from, to int) float64 {
	p, x := r.p, &r.batch
	first, second := &r.levels[0], &r.levels[1]
	in, out := first.size, second.out
	x.prepare(in, r.stride, second.size)
	loss := 0.0
	for j := from; j < to; {
		end := batchEnd(p, j, to)
		m := end - j
		entity := int(second.entity[j])
		r.clearOwner(entity + 1)
		g := second.core[entity*second.size:][:second.size]
		r.b.chain.gatherRows(x.below, first.core, first.entity[j:end], nil, in)
		r.b.timesSlice(x.value, r.stride, x.below, in, m, g, in, out, p.Leaf == 0, x.transposed)
		if r.gradLevel <= 1 {
			clear(x.adjoint[:m*r.stride])
		}
		for i := range m {
			var acc []float32
			if r.gradLevel <= 1 {
				acc = x.adjoint[i*r.stride:][:r.stride]
			}
			loss += r.cells(j+i, x.value[i*r.stride:][:r.stride], acc)
		}
		if second.grad != nil {
			grad := second.grad[entity*second.size:][:second.size]
			if p.Leaf == 0 {
				r.b.dense.multiply(grad, in, x.adjoint, 1, r.stride, x.below, in, out, in, m, 1)
			} else {
				r.b.dense.multiply(grad, out, x.below, 1, in, x.adjoint, r.stride, in, out, m, 1)
			}
		}
		if r.gradLevel == 0 {
			r.b.timesSlice(x.belowHat, in, x.adjoint, r.stride, m, g, out, in, p.Leaf != 0, x.transposed)
			for i, e := range first.entity[j:end] {
				r.b.chain.add(first.grad[int(e)*in:][:in], x.belowHat[i*in:][:in])
			}
		}
		j = end
	}
	return loss
}

// timesSlice sets the m rows of dst to those of x, of length in, times the in x
// out slice g or, if transposed is set, times the transpose of the out x in
// slice g. The transpose is stored in scratch.
func (b *Backend) timesSlice(dst []float32, dstRow int, x []float32, xRow, m int, g []float32, in, out int, transposed bool, scratch []float32) {
	if transposed && m < 4 {
		for i := range m {
			row := dst[i*dstRow:][:out]
			clear(row)
			b.chain.matVec(row, g, x[i*xRow:][:in])
		}
		return
	}
	if transposed {
		b.dense.transpose(scratch, out, g, in, out, in)
		g = scratch
	}
	b.dense.multiply(dst, dstRow, x, xRow, 1, g, out, m, out, in, 0)
}

// multiply computes C = A B + beta C for a C of rows x columns and an inner
// dimension of depth, all small: element (i, p) of A is a[i aRow + p aStep].
func (k *denseKernels) multiply(c []float32, cRow int, a []float32, aRow, aStep int, b []float32, bRow, rows, columns, depth int, beta float32) {
	if rows == 1 && columns == 1 && depth == 1 && beta == 0 { // of a train of rank 1
		c[0] = a[0] * b[0]
		return
	}
	k.scaled(1, c, cRow, a, aRow, aStep, b, bRow, rows, columns, depth, beta)
}

// scaled computes C = alpha A B + beta C, see multiply.
func (k *denseKernels) scaled(alpha float32, c []float32, cRow int, a []float32, aRow, aStep int, b []float32, bRow, rows, columns, depth int, beta float32) {
	t := tile{a: a, aRow: aRow, aStep: aStep, bStep: bRow, cRow: cRow, rows: rows, k: depth, count: 1}
	t.setFactors(alpha, beta)
	for j := 0; j < columns; j += k.panels.width() {
		t.b, t.c = b[j:], c[j:]
		k.panels.run(&t, min(columns-j, k.panels.width()))
	}
}
