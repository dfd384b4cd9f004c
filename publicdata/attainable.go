package publicdata

import (
	"fmt"
	"math"
)

// attainable accumulates the scores of the true distribution on the rows drawn from it.
type attainable struct {
	n, inside                  int
	y, squares, left, absolute float64
	log, logSquares, logLeft   float64
}

func (a *attainable) row(y, mean, median, log, logMean float64, inside bool) {
	a.n++
	if inside {
		a.inside++
	}
	a.y += y
	a.squares += y * y
	a.left += (y - mean) * (y - mean)
	a.absolute += math.Abs(y - median)
	a.log += log
	a.logSquares += log * log
	a.logLeft += (log - logMean) * (log - logMean)
}

func (a *attainable) add(b *attainable) {
	a.n += b.n
	a.inside += b.inside
	a.y += b.y
	a.squares += b.squares
	a.left += b.left
	a.absolute += b.absolute
	a.log += b.log
	a.logSquares += b.logSquares
	a.logLeft += b.logLeft
}

func r2(n int, total, squares, left float64) float64 {
	return 1 - left/(squares-total*total/float64(n))
}

// facts describes the scores of the truth on all rows.
func (a *attainable) facts(counts bool) []string {
	n := float64(a.n)
	text := fmt.Sprintf("The true distribution reaches R2 %.4f, RMSE %.4f and MAE %.4f", r2(a.n, a.y, a.squares, a.left), math.Sqrt(a.left/n), a.absolute/n)
	if counts {
		text += fmt.Sprintf(", R2 of log1p %.4f", r2(a.n, a.log, a.logSquares, a.logLeft))
	}
	return []string{fmt.Sprintf("%s; %.1f %% of the values lie between q05 and q95.", text, 100*float64(a.inside)/n)}
}
