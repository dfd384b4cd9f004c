package cpu

import "github.com/kernel-fried-tensor/kft/backend"

// bundleNodes is how many nodes are taken together.
const bundleNodes = 64

// bundle is scratch memory for the nodes of one entity of a chain's second
// core, the usual case of three cores. With C the first core's rows of these
// nodes, G the slice and U the adjoints of the nodes' vectors,
//
//	V = C G',   dG += U'C,   dC = U G
//
// (G' and G change places where the leaf core is the last), three small
// products of matrices where single nodes would take vectors.
type bundle struct {
	below, value, adjoint, pulled, turned []float32
}

func (b *bundle) fit(in, stride, size int) {
	b.below, b.pulled = resize(b.below, bundleNodes*in), resize(b.pulled, bundleNodes*in)
	b.value, b.adjoint = resize(b.value, bundleNodes*stride), resize(b.adjoint, bundleNodes*stride)
	b.turned = resize(b.turned, size)
	clear(b.value) // what lies behind the rank stays zero
}

// bundleEnd returns the end of the bundle that starts at node j.
func bundleEnd(p *backend.Plan, j, to int) int {
	end := j + 1
	for entity := p.Entity[1]; end < min(to, j+bundleNodes) && entity[end] == entity[j]; {
		end++
	}
	return end
}

// bundles sweeps nodes [from, to) of a chain of two whose second core is the
// owner.
func (r *sweep) bundles(from, to int) float64 {
	p, x := r.p, &r.bundle
	first, second := &r.levels[0], &r.levels[1]
	in, out := first.size, second.out
	x.fit(in, r.stride, second.size)
	loss := 0.0
	for j := from; j < to; {
		end := bundleEnd(p, j, to)
		m := end - j
		entity := int(second.entity[j])
		r.clearOwner(entity + 1)
		g := second.core[entity*second.size:][:second.size]
		r.b.chain.gatherRows(x.below, first.core, first.entity[j:end], nil, in)
		r.b.timesSlice(x.value, r.stride, x.below, in, m, g, in, out, p.Leaf == 0, x.turned)
		if r.pull <= 1 {
			clear(x.adjoint[:m*r.stride])
		}
		for i := range m {
			var acc []float32
			if r.pull <= 1 {
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
		if r.pull == 0 {
			r.b.timesSlice(x.pulled, in, x.adjoint, r.stride, m, g, out, in, p.Leaf != 0, x.turned)
			for i, e := range first.entity[j:end] {
				r.b.chain.add(first.grad[int(e)*in:][:in], x.pulled[i*in:][:in])
			}
		}
		j = end
	}
	return loss
}

// timesSlice sets the m rows of dst to those of x, of length in, times the
// in x out slice g, or times the transpose of the out x in slice g, for which
// it takes the scratch memory turned.
func (b *Backend) timesSlice(dst []float32, dstRow int, x []float32, xRow, m int, g []float32, in, out int, transposed bool, turned []float32) {
	if transposed && m < 4 {
		for i := range m {
			row := dst[i*dstRow:][:out]
			clear(row)
			b.chain.matVec(row, g, x[i*xRow:][:in])
		}
		return
	}
	if transposed {
		b.dense.transpose(turned, out, g, in, out, in)
		g = turned
	}
	b.dense.multiply(dst, dstRow, x, xRow, 1, g, out, m, out, in, 0)
}

// multiply computes C = A B + beta C for a C of rows x columns and a depth of
// k, all small: element (i, p) of A is a[i aRow + p aStep].
func (k *denseKernels) multiply(c []float32, cRow int, a []float32, aRow, aStep int, b []float32, bRow, rows, columns, depth int, beta float32) {
	k.scaled(1, c, cRow, a, aRow, aStep, b, bRow, rows, columns, depth, beta)
}

// scaled is multiply with alpha A B.
func (k *denseKernels) scaled(alpha float32, c []float32, cRow int, a []float32, aRow, aStep int, b []float32, bRow, rows, columns, depth int, beta float32) {
	t := tile{a: a, aRow: aRow, aStep: aStep, bStep: bRow, cRow: cRow, rows: rows, k: depth, count: 1}
	t.setFactors(alpha, beta)
	for j := 0; j < columns; j += k.panels.width() {
		t.b, t.c = b[j:], c[j:]
		k.panels.run(&t, min(columns-j, k.panels.width()))
	}
}
