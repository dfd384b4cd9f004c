package cpu

import "github.com/kernel-fried-tensor/kft/backend"

// Evaluate implements backend.Backend.
func (b *Backend) Evaluate(dst []float32, cores []backend.Slices, index [][]int32) {
	const cells = 4096
	longest := 1
	for _, c := range cores {
		longest = max(longest, c.Right)
	}
	b.forEach((len(dst)+cells-1)/cells, func(worker, i int) {
		ws := &b.workers[worker]
		ws.panel = resize(ws.panel, 2*longest)
		b.evaluate(dst, cores, index, i*cells, min((i+1)*cells, len(dst)), ws.panel[:longest], ws.panel[longest:])
	})
}

func (b *Backend) evaluate(dst []float32, cores []backend.Slices, index [][]int32, from, to int, u, v []float32) {
	last := len(cores) - 1
	for c := from; c < to; c++ {
		vector := sliceOf(cores[0], index[0][c])
		for p := 1; p < last; p++ {
			next := u[:cores[p].Right]
			clear(next)
			b.chain.vecMat(next, vector, sliceOf(cores[p], index[p][c]))
			vector = next
			u, v = v, u
		}
		if last == 0 {
			dst[c] = vector[0]
			continue
		}
		b.chain.dots(dst[c:c+1], cores[last].Mean, index[last][c:c+1], vector)
	}
}
