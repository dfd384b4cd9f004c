package cpu

import (
	"math/rand/v2"
	"testing"
)

func TestTranspose(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(13, 13))
	eachPath(t, func(t *testing.T, p Path) {
		for _, rows := range []int{0, 1, 7, 8, 9, 16, 35} {
			for _, columns := range []int{0, 1, 7, 8, 17, 24} {
				src, checkSrc := guarded(t, rows*(columns+3), normal(random))
				dst, checkDst := guarded(t, columns*(rows+2), func(int) float32 { return canary })
				denseKernelsFor(p).transpose(dst, rows+2, src, columns+3, rows, columns)
				checkSrc()
				checkDst()
				for i, have := range dst {
					row, column := i%(rows+2), i/(rows+2)
					switch {
					case row >= rows && have == have:
						t.Fatalf("%d x %d: the padding at %d was overwritten", rows, columns, i)
					case row < rows && have != src[row*(columns+3)+column]:
						t.Fatalf("%d x %d: [%d][%d] = %g, want %g", rows, columns, column, row, have, src[row*(columns+3)+column])
					}
				}
			}
		}
	})
}
