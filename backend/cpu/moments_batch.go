package cpu

import "github.com/kernel-fried-tensor/kft/backend"

// momentBatch handles the usual case, three cores with variances, without
// forming a covariance matrix. With G the slice of the chain's second core, m1,
// s1 a row of the leaf core and m3, s3 a row of the far core, x = m1 G and
//
//	h = m3^2 + s3,   u = G m3,   d = S h,   g = u^2 + G^2 s3 + d,
//
// the moments of a cell are (squares are element by element)
//
//	E f = m1.u,   Var f = m1^2.d + x^2.s3 + s1.g:
//
// two products of a row of the leaf entity and a vector of the node. x is
// shared by the cells of a leaf entity and a slice, d and g by those of a node.
// So the nodes of one slice are processed as a batch, their leaf entities are
// listed once, and all products with the slice are products of small matrices.
// A cell costs 4 R multiply-adds, and 8 R in the backward direction.
//
// Adjoints of variances are stored doubled: then only those of the variances
// themselves have to be halved.
type momentBatch struct {
	in, out    int // ranks before and after the slice
	inRow      int // row lengths, rounded up to whole vectors
	outRow     int
	varies     [2]bool // whether the far and the leaf core have variances; without them these stay zero
	width      int     // length of a row [m1^2 s1 x^2] and of a vector [d g s3], without gaps, rounded up to whole vectors
	slot       []int32 // by leaf entity: its row, -1 if it has none
	entities   []int32 // by row
	local      []int32 // by cell: its row
	far        []float32
	farVar     []float32
	farSquare  []float32 // h
	mean, vars []float32 // u and [d g s3] by node
	varsHat    []float32
	rows       []float32 // m1, then uhat by node: one product uses both
	rowsHat    []float32
	x, xHat    []float32 // x; its adjoint, then m3 by node
	quad       []float32 // [m1^2 s1 x^2]
	quadHat    []float32
	slice      batchSlice
	sliceHat   []float32 // scratch in the form of a slice
	farHat     []float32 // by node: adjoints of m3 and s3
	farVarHat  []float32
	zeros      []float32
	meansOnly  bool // see onlySliceMeans

	panel, scaledPanel []float32 // rows of cells, for the covariances of the far core
}

// batchSlice is a slice in the forward direction, in x out, and in the backward
// direction, out x in: its means, their squares and its variances.
type batchSlice struct{ forward, reverse, forwardSquare, reverseSquare, forwardVar, reverseVar []float32 }

// batchable reports whether momentBatch applies.
func (r *momentSweep) batchable() bool {
	return len(r.p.Chain) == 2 && r.p.Owner == 1 && r.levels[0].core.Cov == nil && r.leaf.core.Cov == nil
}

// wholeVectors returns the padded length of a row of n entries.
func (b *Backend) wholeVectors(n int) int {
	lanes := int(b.dense.panels)
	if n <= 8 {
		return n
	}
	return (n + lanes - 1) / lanes * lanes
}

// prepare sets up the memory for a shard.
func (x *momentBatch) prepare(b *Backend, first, second *momentLevel, leaf *momentLeaf, entities int) {
	in, out := first.size, second.out
	varies := [2]bool{first.core.Var != nil, leaf.core.Var != nil}
	same := x.in == in && x.out == out && x.varies == varies && len(x.slice.forward) == second.size
	x.varies = varies
	x.in, x.out = in, out
	x.inRow, x.outRow = b.wholeVectors(x.in), b.wholeVectors(x.out)
	x.width = x.in + 2*x.out
	if max(x.in, x.out) > 8 {
		x.width = b.wholeVectors(x.width)
	}
	if len(x.slot) != entities {
		x.slot = resize(x.slot, entities)
		for e := range x.slot {
			x.slot[e] = -1
		}
	}
	if same {
		return // what has to be zero still is
	}
	for _, v := range []*[]float32{&x.far, &x.farVar, &x.farSquare, &x.farHat, &x.farVarHat} {
		*v = zeroed(*v, maxBatchNodes*x.inRow)
	}
	x.mean = zeroed(x.mean, maxBatchNodes*x.outRow)
	x.vars, x.varsHat = zeroed(x.vars, maxBatchNodes*x.width), zeroed(x.varsHat, maxBatchNodes*x.width)
	x.sliceHat = zeroed(x.sliceHat, second.size)
	x.zeros = zeroed(x.zeros, second.size)
	s := &x.slice
	for _, v := range []*[]float32{&s.forward, &s.reverse, &s.forwardSquare, &s.reverseSquare, &s.forwardVar, &s.reverseVar} {
		*v = resize(*v, second.size)
	}
	// The padding after the ranks has to be zero in all allocated rows.
	for _, v := range []*[]float32{&x.rows, &x.rowsHat, &x.x, &x.xHat, &x.quad, &x.quadHat} {
		*v = zeroed(*v, cap(*v))
	}
}

func zeroed(s []float32, n int) []float32 {
	s = resize(s, n)
	clear(s)
	return s
}

// reserveRows makes room for the rows of a batch.
func (x *momentBatch) reserveRows(rows, nodes int) {
	if total := rows + nodes; len(x.rows) < total*x.outRow || len(x.xHat) < total*x.inRow || len(x.quad) < total*x.width {
		total += total / 2
		x.rows, x.rowsHat = make([]float32, total*x.outRow), make([]float32, total*x.outRow)
		x.x, x.xHat = make([]float32, total*x.inRow), make([]float32, total*x.inRow)
		x.quad, x.quadHat = make([]float32, total*x.width), make([]float32, total*x.width)
	}
}

// maxBatchCells bounds the cells of a batch, and with them its rows, unless a
// single node has more.
const maxBatchCells = 1 << 14

// onlySliceMeans reports whether nothing but the gradient with respect to the means of the second core is
// requested, as in a step of conjugate gradients. It depends on the variances through ghat and xhat alone.
func (r *momentSweep) onlySliceMeans() bool {
	job, second := r.job, &r.levels[1]
	return job.Adjoint != backend.None && job.GradientsOnly && job.Var == nil && !r.wanted(r.p.Leaf) && r.gradLevel == 1 && second.gradVar == nil
}

// batches processes nodes [from, to).
func (r *momentSweep) batches(from, to int) float64 {
	p, x := r.p, &r.batch
	x.prepare(r.b, &r.levels[0], &r.levels[1], &r.leaf, p.Shapes[p.Leaf].N)
	x.meansOnly = r.onlySliceMeans()
	loss := 0.0
	for j := from; j < to; {
		end := batchEnd(p, j, to)
		for end > j+1 && p.Start[end]-p.Start[j] > maxBatchCells {
			end--
		}
		r.clearOwner(int(r.levels[1].entity[j]) + 1)
		r.numberLeafEntities(j, end)
		r.batchNodes(j, end)
		r.batchRows(j)
		for i := range end - j {
			loss += r.batchCells(j+i, i)
		}
		r.backwardBatch(j, end)
		for _, e := range x.entities {
			x.slot[e] = -1
		}
		j = end
	}
	return loss
}

// numberLeafEntities lists the leaf entities of nodes [j, end) and assigns each
// cell the number of its entity.
func (r *momentSweep) numberLeafEntities(j, end int) {
	x := &r.batch
	cells := r.p.LeafEntity[r.p.Start[j]:r.p.Start[end]]
	x.local = resize(x.local, len(cells))
	x.entities = x.entities[:0]
	for c, e := range cells {
		at := x.slot[e]
		if at < 0 {
			at = int32(len(x.entities))
			x.slot[e] = at
			x.entities = append(x.entities, e)
		}
		x.local[c] = at
	}
	x.reserveRows(len(x.entities), end-j)
}

// set stores the forms of the slice of an entity.
func (s *batchSlice) set(b *Backend, v *momentLevel, entity int, leafFirst bool, zeros []float32) {
	g, variance := v.core.Mean[entity*v.size:][:v.size], zeros
	if v.core.Var != nil {
		variance = v.core.Var[entity*v.size:][:v.size]
	}
	if leafFirst { // the slice is out x in
		b.dense.transpose(s.forward, v.out, g, v.in, v.out, v.in)
		b.dense.transpose(s.forwardVar, v.out, variance, v.in, v.out, v.in)
		copy(s.reverse, g)
		copy(s.reverseVar, variance)
	} else {
		b.dense.transpose(s.reverse, v.in, g, v.out, v.in, v.out)
		b.dense.transpose(s.reverseVar, v.in, variance, v.out, v.in, v.out)
		copy(s.forward, g)
		copy(s.forwardVar, variance)
	}
	b.chain.product(s.forwardSquare, s.forward, s.forward)
	b.chain.product(s.reverseSquare, s.reverse, s.reverse)
}

// batchNodes computes u and [d s3 g] of nodes [j, end).
func (r *momentSweep) batchNodes(j, end int) {
	x, k, first, second := &r.batch, &r.b.chain, &r.levels[0], &r.levels[1]
	m := end - j
	x.slice.set(r.b, second, int(second.entity[j]), r.p.Leaf == 0, x.zeros)
	for i, e := range first.entity[j:end] {
		at := int(e) * x.in
		far, variance := x.far[i*x.inRow:][:x.inRow], x.farVar[i*x.inRow:][:x.inRow]
		copy(far, first.core.Mean[at:][:x.in])
		if first.core.Var != nil {
			copy(variance, first.core.Var[at:][:x.in])
		}
		copy(x.vars[i*x.width+2*x.out:][:x.in], variance)
	}
	k.product(x.farSquare[:m*x.inRow], x.far, x.far)
	k.add(x.farSquare[:m*x.inRow], x.farVar[:m*x.inRow])
	g := x.vars[x.out:]
	mul := r.b.dense.multiply
	mul(x.mean, x.outRow, x.far, x.inRow, 1, x.slice.forward, x.out, m, x.out, x.in, 0)
	if x.meansOnly {
		return
	}
	mul(x.vars, x.width, x.farSquare, x.inRow, 1, x.slice.forwardVar, x.out, m, x.out, x.in, 0)
	mul(g, x.width, x.farVar, x.inRow, 1, x.slice.forwardSquare, x.out, m, x.out, x.in, 0)
	for i := range m {
		u := x.mean[i*x.outRow:][:x.out]
		k.addProduct(g[i*x.width:][:x.out], u, u)
		k.add(g[i*x.width:][:x.out], x.vars[i*x.width:][:x.out])
	}
}

// batchRows computes the rows of the batch that starts at node j.
func (r *momentSweep) batchRows(j int) {
	x, k, leaf := &r.batch, &r.b.chain, &r.leaf
	n := len(x.entities)
	for i, e := range x.entities {
		copy(x.rows[i*x.outRow:][:x.out], leaf.core.Mean[int(e)*x.out:])
	}
	r.b.dense.multiply(x.x, x.inRow, x.rows, x.outRow, 1, x.slice.reverse, x.in, n, x.in, x.out, 0)
	if x.meansOnly {
		return
	}
	for i, e := range x.entities {
		q := x.quad[i*x.width:][:x.width]
		row, product := x.rows[i*x.outRow:][:x.outRow], x.x[i*x.inRow:][:x.inRow]
		k.product(q[:x.out], row, row)
		if leaf.core.Var != nil {
			copy(q[x.out:][:x.out], leaf.core.Var[int(e)*x.out:])
		}
		k.product(q[2*x.out:][:x.in], product, product)
	}
}
