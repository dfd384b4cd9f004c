package cpu

// momentBundle is the way of the usual case, three cores with variances, that
// never forms a covariance. With G the slice of the chain's second core, m1, s1
// a row of the leaf core and m3, s3 one of the far core, x = m1 G and
//
//	h = m3^2 + s3,   u = G m3,   d = S h,   g = u^2 + G^2 s3 + d,
//
// the moments of a cell are (squares element by element)
//
//	E f = m1.u,   Var f = m1^2.d + x^2.s3 + s1.g:
//
// two products of a row of the leaf's and a vector of the node's. x is shared by
// the cells of a leaf entity and a slice, d and g by those of a node. So the
// nodes of one slice are taken together, their leaf entities listed once, and
// all products with the slice are small products of matrices. A cell costs
// 4 R multiply-adds, and 8 R on the way back.
//
// Adjoints of variances are kept doubled: then only those of the variances
// themselves have to be halved.
type momentBundle struct {
	in, out    int // ranks before and after the slice
	inRow      int // lengths of rows, whole vectors
	outRow     int
	width      int     // of a row [m1^2 x^2 s1] and of a vector [d s3 g]
	slot       []int32 // by leaf entity: its row, -1 without
	entities   []int32 // by row
	local      []int32 // by cell: its row
	far        []float32
	farVar     []float32
	farSquare  []float32 // h
	mean, vars []float32 // u and [d s3 g] by node
	varsHat    []float32
	rows       []float32 // m1, then uhat by node: one product takes both
	rowsHat    []float32
	x, xHat    []float32 // x; its adjoint, then m3 by node
	quad       []float32 // [m1^2 x^2 s1]
	quadHat    []float32
	slice      bundleSlice
	slicePull  []float32 // of a slice's form
	pulled     []float32 // by node, of the far core's rank
	pulledVar  []float32
	zeros      []float32
}

// bundleSlice is a slice as it goes forth, in x out, and back, out x in: its
// means, their squares and its variances.
type bundleSlice struct{ forth, back, forthSquare, backSquare, forthVar, backVar []float32 }

// bundled tells whether the bundles' way is open.
func (r *momentSweep) bundled() bool {
	return len(r.p.Chain) == 2 && r.p.Owner == 1 && r.levels[0].core.Cov == nil && r.leaf.core.Cov == nil
}

// wholeVectors returns the length that a row of n takes.
func (b *Backend) wholeVectors(n int) int {
	lanes := int(b.dense.panels)
	if n <= 8 {
		return n
	}
	return (n + lanes - 1) / lanes * lanes
}

// fit sets up the memory of a shard.
func (x *momentBundle) fit(b *Backend, first, second *momentLevel, entities int) {
	x.in, x.out = first.size, second.out
	x.inRow, x.outRow = b.wholeVectors(x.in), b.wholeVectors(x.out)
	x.width = x.inRow + 2*x.outRow
	if len(x.slot) != entities {
		x.slot = resize(x.slot, entities)
		for e := range x.slot {
			x.slot[e] = -1
		}
	}
	for _, v := range []*[]float32{&x.far, &x.farVar, &x.farSquare, &x.pulled, &x.pulledVar} {
		*v = zeroed(*v, bundleNodes*x.inRow)
	}
	x.mean = zeroed(x.mean, bundleNodes*x.outRow)
	x.vars, x.varsHat = zeroed(x.vars, bundleNodes*x.width), zeroed(x.varsHat, bundleNodes*x.width)
	x.slicePull = zeroed(x.slicePull, second.size)
	x.zeros = zeroed(x.zeros, second.size)
	s := &x.slice
	for _, v := range []*[]float32{&s.forth, &s.back, &s.forthSquare, &s.backSquare, &s.forthVar, &s.backVar} {
		*v = resize(*v, second.size)
	}
	// What lies behind the ranks has to be zero, in all rows there is room for.
	for _, v := range []*[]float32{&x.rows, &x.rowsHat, &x.x, &x.xHat, &x.quad, &x.quadHat} {
		*v = zeroed(*v, cap(*v))
	}
}

func zeroed(s []float32, n int) []float32 {
	s = resize(s, n)
	clear(s)
	return s
}

// fitRows makes room for the rows of a bundle.
func (x *momentBundle) fitRows(rows, nodes int) {
	if total := rows + nodes; len(x.rows) < total*x.outRow || len(x.xHat) < total*x.inRow || len(x.quad) < total*x.width {
		total += total / 2
		x.rows, x.rowsHat = make([]float32, total*x.outRow), make([]float32, total*x.outRow)
		x.x, x.xHat = make([]float32, total*x.inRow), make([]float32, total*x.inRow)
		x.quad, x.quadHat = make([]float32, total*x.width), make([]float32, total*x.width)
	}
}

// bundleCells bounds the cells of a bundle, and with them its rows, unless a
// single node has more.
const bundleCells = 1 << 14

// bundles sweeps nodes [from, to).
func (r *momentSweep) bundles(from, to int) float64 {
	p, x := r.p, &r.bundle
	x.fit(r.b, &r.levels[0], &r.levels[1], p.Shapes[p.Leaf].N)
	loss := 0.0
	for j := from; j < to; {
		end := bundleEnd(p, j, to)
		for end > j+1 && p.Start[end]-p.Start[j] > bundleCells {
			end--
		}
		r.clearOwner(int(r.levels[1].entity[j]) + 1)
		r.number(j, end)
		r.bundleNodes(j, end)
		r.bundleRows(j)
		for i := range end - j {
			loss += r.bundleCells(j+i, i)
		}
		r.pullBundle(j, end)
		for _, e := range x.entities {
			x.slot[e] = -1
		}
		j = end
	}
	return loss
}

// number lists the leaf entities of nodes [j, end) and numbers their cells.
func (r *momentSweep) number(j, end int) {
	x := &r.bundle
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
	x.fitRows(len(x.entities), end-j)
}

// set brings the slice of an entity into its forms.
func (s *bundleSlice) set(b *Backend, v *momentLevel, entity int, leafFirst bool, zeros []float32) {
	g, variance := v.core.Mean[entity*v.size:][:v.size], zeros
	if v.core.Var != nil {
		variance = v.core.Var[entity*v.size:][:v.size]
	}
	if leafFirst { // a slice is out x in
		b.dense.transpose(s.forth, v.out, g, v.in, v.out, v.in)
		b.dense.transpose(s.forthVar, v.out, variance, v.in, v.out, v.in)
		copy(s.back, g)
		copy(s.backVar, variance)
	} else {
		b.dense.transpose(s.back, v.in, g, v.out, v.in, v.out)
		b.dense.transpose(s.backVar, v.in, variance, v.out, v.in, v.out)
		copy(s.forth, g)
		copy(s.forthVar, variance)
	}
	b.chain.product(s.forthSquare, s.forth, s.forth)
	b.chain.product(s.backSquare, s.back, s.back)
}

// bundleNodes computes u and [d s3 g] of nodes [j, end).
func (r *momentSweep) bundleNodes(j, end int) {
	x, k, first, second := &r.bundle, &r.b.chain, &r.levels[0], &r.levels[1]
	m := end - j
	x.slice.set(r.b, second, int(second.entity[j]), r.p.Leaf == 0, x.zeros)
	for i, e := range first.entity[j:end] {
		at := int(e) * x.in
		far, spread := x.far[i*x.inRow:][:x.inRow], x.farVar[i*x.inRow:][:x.inRow]
		copy(far, first.core.Mean[at:][:x.in])
		if first.core.Var != nil {
			copy(spread, first.core.Var[at:][:x.in])
		}
		copy(x.vars[i*x.width+x.outRow:], spread)
	}
	k.product(x.farSquare[:m*x.inRow], x.far, x.far)
	k.add(x.farSquare[:m*x.inRow], x.farVar[:m*x.inRow])
	g := x.vars[x.outRow+x.inRow:]
	mul := r.b.dense.multiply
	mul(x.mean, x.outRow, x.far, x.inRow, 1, x.slice.forth, x.out, m, x.out, x.in, 0)
	mul(x.vars, x.width, x.farSquare, x.inRow, 1, x.slice.forthVar, x.out, m, x.out, x.in, 0)
	mul(g, x.width, x.farVar, x.inRow, 1, x.slice.forthSquare, x.out, m, x.out, x.in, 0)
	for i := range m {
		u := x.mean[i*x.outRow:][:x.outRow]
		k.addProduct(g[i*x.width:][:x.outRow], u, u)
		k.add(g[i*x.width:][:x.outRow], x.vars[i*x.width:][:x.outRow])
	}
}

// bundleRows computes the rows of the bundle that starts at node j.
func (r *momentSweep) bundleRows(j int) {
	x, k, leaf := &r.bundle, &r.b.chain, &r.leaf
	n := len(x.entities)
	for i, e := range x.entities {
		copy(x.rows[i*x.outRow:][:x.out], leaf.core.Mean[int(e)*x.out:])
	}
	r.b.dense.multiply(x.x, x.inRow, x.rows, x.outRow, 1, x.slice.back, x.in, n, x.in, x.out, 0)
	for i, e := range x.entities {
		q := x.quad[i*x.width:][:x.width]
		row, product := x.rows[i*x.outRow:][:x.outRow], x.x[i*x.inRow:][:x.inRow]
		k.product(q[:x.outRow], row, row)
		k.product(q[x.outRow:][:x.inRow], product, product)
		if leaf.core.Var != nil {
			copy(q[x.outRow+x.inRow:][:x.out], leaf.core.Var[int(e)*x.out:])
		}
	}
}
