package cpu

import "fmt"

// BatchedGemm computes count independent products dst_i = a_i b_i of r x k by k
// x c matrices, which are stored one after another without gaps. dst is written
// without being read and must not overlap a or b. It runs on one thread and
// does not allocate.
func BatchedGemm(p Path, r, c, k, count int, a, b, dst []float32) {
	if r < 0 || c < 0 || k < 0 || count < 0 || len(a) < count*r*k || len(b) < count*k*c || len(dst) < count*r*c {
		panic(fmt.Sprintf("cpu: BatchedGemm: %d products of %d x %d by %d x %d do not fit slices of %d, %d and %d elements", count, r, k, k, c, len(a), len(b), len(dst)))
	}
	if r == 0 || c == 0 || count == 0 {
		return
	}
	if k == 0 {
		clear(dst[:count*r*c])
		return
	}
	panels := denseKernelsFor(p).panels
	t := tile{
		aRow: k, aStep: 1, bStep: c, cRow: c,
		rows: r, k: k,
		aNext: r * k, bNext: k * c, cNext: r * c,
	}
	t.setFactors(1, 0)
	group := count
	if c > panels.width() {
		group = max(1, batchElements/(r*k+k*c+r*c))
	}
	for first := 0; first < count; first += group {
		t.count = min(group, count-first)
		t.a = a[first*t.aNext:]
		for j := 0; j < c; j += panels.width() {
			t.b, t.c = b[first*t.bNext+j:], dst[first*t.cNext+j:]
			panels.run(&t, min(c-j, panels.width()))
		}
	}
}

// batchElements is the number of matrix elements processed for one panel of
// columns before the next panel: few enough to stay in the cache.
const batchElements = 8192
