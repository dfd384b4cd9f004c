// Package cpu is the fast backend: float32 on the vector units of the CPU, with
// sums over data in float64.
//
// Its inner loops exist once for each [Path]: Go assembly for AVX-512 and AVX2,
// plain Go elsewhere. A pass over a plan is one sweep: the vector of a node,
// the values of its cells, their adjoints and the contribution of the node to
// all gradients are computed while its cells are in cache.
package cpu

import (
	"runtime"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// Backend implements backend.Backend. It keeps scratch memory between calls, so
// it serves one caller at a time.
type Backend struct {
	path    Path
	threads int
	chain   chainKernels
	dense   denseKernels
	workers []workspace
	leaf    []float32 // padded rows of the leaf core
	arena   []float32 // gradient sums of the shards
	vectors []float32 // node vectors of NormalEquations
	target  []float32 // targets and roots of weights by leaf entity
	scale   []float32
	square  []float32 // squared means or covariances of the leaf core
	pages   *paged.Store
	prefix  []float32 // sums of earlier ranks
	sorted  []float32 // adjoints of all ranks by leaf entity
	ranks   backend.Ranks
}

var _ backend.Backend = (*Backend)(nil)

// New returns a backend for the given path. If threads < 1 it uses GOMAXPROCS
// threads.
func New(path Path, threads int) *Backend {
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	return &Backend{path: path, threads: threads, chain: chainKernelsFor(path), dense: denseKernelsFor(path), workers: make([]workspace, threads)}
}

// SetPages makes the backend keep arrays of the length of the data in a store, see
// [backend.Make].
func (b *Backend) SetPages(s *paged.Store) { b.pages = s }

// Pages returns the store, nil if the arrays are in memory.
func (b *Backend) Pages() *paged.Store { return b.pages }

func (b *Backend) Name() string { return string(b.path) }
func (b *Backend) Threads() int { return b.threads }

// Gemm implements backend.Backend.
func (b *Backend) Gemm(ta, tb bool, m, n, k int, alpha float32, a []float32, lda int, bb []float32, ldb int, beta float32, c []float32, ldc int) {
	Gemm(b.path, b.threads, ta, tb, m, n, k, alpha, a, lda, bb, ldb, beta, c, ldc)
}

// Exp sets dst to the exponentials of src.
func (b *Backend) Exp(dst, src []float32) { Exp(b.path, dst, src) }

// Cos sets dst to the cosines of src.
func (b *Backend) Cos(dst, src []float32) { Cos(b.path, dst, src) }

// forEach calls work(worker, item) for every item in [0, n) on up to Threads
// goroutines. The assignment of items to workers is not deterministic, so the
// results of an item must not depend on its worker.
func (b *Backend) forEach(n int, work func(worker, item int)) {
	parallel.ForWorkers(b.threads, n, work)
}

// forEachShard is forEach for the shards of a plan that this process computes, the largest
// first if they are all.
func (b *Backend) forEachShard(p *backend.Plan, d division, work func(worker, shard int)) {
	if d.ranks != nil {
		b.forEach(d.count(), func(worker, i int) { work(worker, d.first+i) })
		return
	}
	b.forEach(len(p.ByWork), func(worker, i int) { work(worker, int(p.ByWork[i])) })
}

// workspace is the scratch memory of one worker.
type workspace struct {
	sweep         sweep
	moments       momentSweep
	middle        middle
	panel         []float32 // rows of gathered vectors
	index         []int32
	rhs, gram     []float32
	gram64, rhs64 []float64
}

// resizeLong is resize for an array of the length of the data.
func (b *Backend) resizeLong(s []float32, n int) []float32 {
	if cap(s) >= n {
		return s[:n]
	}
	paged.Free(b.pages, s)
	return paged.Make[float32](b.pages, n)
}

// resize returns a slice of length n, reusing s if it is large enough. The
// content is undefined.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
