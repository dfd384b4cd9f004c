package lowrank

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// RandomVectors draws wide vectors of n normals, one after the other. The values of
// entity i depend on its features, so the order of entities does not matter.
func RandomVectors(x kernel.Rows, wide int, seed uint64) []float32 {
	block := make([]float32, wide*x.N)
	bytes := make([]byte, 4*x.C)
	for i := range x.N {
		for c, v := range x.X[i*x.C : (i+1)*x.C] {
			binary.LittleEndian.PutUint32(bytes[4*c:], math.Float32bits(v))
		}
		h := fnv.New64a()
		h.Write(bytes)
		random := rand.New(rand.NewPCG(seed, h.Sum64()))
		for v := range wide {
			block[v*x.N+i] = float32(random.NormFloat64())
		}
	}
	return block
}

// panel is the number of vectors orthonormalised together. The rest of the work is
// GEMM.
const panel = 16

// Orthonormalise makes the vectors, rows of n values, orthonormal in place and
// returns the number of vectors kept. It drops vectors that become exactly 0. The
// method is Gram-Schmidt by panels, repeated three times because cancellation may
// leave only the last digits of a vector.
func Orthonormalise(b backend.Backend, vectors []float32, n int) int {
	count, done := len(vectors)/n, 0
	for from := 0; from < count; from += panel {
		rows := min(panel, count-from)
		copy(vectors[done*n:(done+rows)*n], vectors[from*n:(from+rows)*n])
		block := vectors[done*n : (done+rows)*n]
		for range 3 {
			if done > 0 && rows > 0 {
				share := make([]float32, rows*done)
				b.Gemm(false, true, rows, done, n, 1, block, n, vectors, n, 0, share, done)
				b.Gemm(false, false, rows, n, done, -1, share, done, vectors, n, 1, block, n)
			}
			rows = orthonormalisePanel(block, rows, n)
			block = block[:rows*n]
		}
		done += rows
	}
	return done
}

// orthonormalisePanel orthonormalises the vectors of one panel and returns the
// number kept.
func orthonormalisePanel(block []float32, rows, n int) int {
	kept := 0
	for i := range rows {
		v := block[i*n : (i+1)*n]
		for j := range kept {
			u := block[j*n : (j+1)*n]
			c := -float32(dot64(u, v))
			for k, value := range u {
				v[k] += c * value
			}
		}
		norm := math.Sqrt(dot64(v, v))
		if !(norm > 1e-30) {
			continue
		}
		scale := float32(1 / norm)
		to := block[kept*n : (kept+1)*n]
		for k, value := range v {
			to[k] = scale * value
		}
		kept++
	}
	return kept
}

// dot64 returns the dot product of a and b. It adds float32 dot products of short
// pieces in float64.
func dot64(a, b []float32) (sum float64) {
	const piece = 256
	for len(a) > piece {
		sum += float64(dot(a[:piece], b[:piece]))
		a, b = a[piece:], b[piece:]
	}
	return sum + float64(dot(a, b))
}
