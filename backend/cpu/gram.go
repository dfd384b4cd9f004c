package cpu

import "fmt"

// Gram adds panel' panel to dst. panel is n x r, row-major without gaps, and
// dst is r x r. dst must be symmetric on entry and is symmetric on return; only
// its upper blocks are read. It runs on one thread, takes about nr^2 to 2nr^2
// operations and does not allocate.
func Gram(p Path, dst, panel []float32, n, r int) {
	if n < 0 || r < 0 || len(panel) < n*r || len(dst) < r*r {
		panic(fmt.Sprintf("cpu: Gram: a %d x %d panel does not fit slices of %d and %d elements", n, r, len(panel), len(dst)))
	}
	if n == 0 || r == 0 {
		return
	}
	kernels := denseKernelsFor(p)
	if kernels.gramNarrow != nil && r <= narrowGram {
		kernels.gramNarrow(dst, panel, n, r)
		return
	}
	kernels.gram(dst, panel, n, r)
}

// narrowGram is the largest r of denseKernels.gramNarrow.
const narrowGram = 16

// gram computes the upper part in panels of columns and copies it to the lower
// part.
func (k *denseKernels) gram(dst, panel []float32, n, r int) {
	width := k.panels.width()
	t := tile{aRow: 1, aStep: r, bStep: r, cRow: r, count: 1}
	t.setFactors(1, 1)
	depth := max(64, cachedPanel/r&^7)
	for p := 0; p < n; p += depth {
		t.k = min(depth, n-p)
		t.a = panel[p*r:]
		for j := 0; j < r; j += width {
			columns := min(width, r-j)
			t.rows = j + columns
			t.b, t.c = panel[p*r+j:], dst[j:]
			k.panels.run(&t, columns)
		}
	}
	for j := width; j < r; j += width {
		// The block below the diagonal block of the columns before j.
		i := j - width
		k.transpose(dst[j*r+i:], r, dst[i*r+j:], r, width, r-j)
	}
}
