package tableio

import (
	"math"
	"strconv"
)

// Targets are stored as float32, which has 24 bits. That is enough for all that a model
// can learn unless the targets lie far from 0 compared to their differences, as 1e12 +-
// 1000 do. The parts that rounding takes are stored then, too.
const (
	// A chunk whose largest target is at most farFromZero standard deviations loses no
	// more than 2e-6 of them.
	farFromZero = 30
	// leastLoss is the loss, as a share of the standard deviation, from which the parts
	// are kept.
	leastLoss = 1e-6
)

// lowParts returns what rounding to float32 took from the targets y of the rows in keep,
// nil if it does not matter. Missing targets have 0. It uses the memory of dst.
func lowParts(dst []float32, r rowset, column int, keep []int32, y []float32) []float32 {
	y = y[:len(keep)]
	if !farOff(y) {
		return nil
	}
	low := dst[:0]
	some := false
	for i, row := range keep {
		part := float32(0)
		if v, err := strconv.ParseFloat(string(r.Field(int(row), column)), 64); err == nil && !math.IsInf(v, 0) && y[i] == y[i] {
			part = float32(v - float64(y[i]))
		}
		low = append(low, part)
		some = some || part != 0
	}
	if !some {
		return nil
	}
	return low
}

// farOff reports whether the targets of a chunk lie far from 0 and are not small whole
// numbers, which float32 has exactly.
func farOff(y []float32) bool {
	whole := true
	for _, v := range y {
		if v == v && (math.Abs(float64(v)) > 1<<24 || float64(v) != math.Trunc(float64(v))) {
			whole = false
			break
		}
	}
	if whole {
		return false
	}
	largest, deviation := spread(y, nil)
	return largest > farFromZero*deviation
}

// spread returns the largest absolute value and the standard deviation of targets.
func spread(y, low []float32) (largest, deviation float64) {
	var n, mean, squares float64
	for i, v := range y {
		if v != v {
			continue
		}
		t := float64(v)
		if low != nil {
			t += float64(low[i])
		}
		largest = max(largest, math.Abs(t))
		n++
		d := t - mean
		mean += d / n
		squares += d * (t - mean)
	}
	return largest, math.Sqrt(squares / max(n, 1))
}

// addLow appends the low parts of the next n targets, before these are appended.
func (b *builder) addLow(low []float32, n int) {
	t := b.table
	if low == nil && t.Low == nil {
		return
	}
	if t.Low == nil {
		t.Low = make([]float32, t.Len(), max(cap(t.Y), t.Len()+n))
	}
	if low == nil {
		t.Low = append(t.Low, make([]float32, n)...)
		return
	}
	t.Low = append(t.Low, low[:n]...)
}

// finishLow drops the low parts if they do not matter to the whole table.
func (b *builder) finishLow() {
	t := b.table
	if t.Low == nil {
		return
	}
	squares := 0.0
	for _, v := range t.Low {
		squares += float64(v) * float64(v)
	}
	_, deviation := spread(t.Y, t.Low)
	if math.Sqrt(squares/float64(max(t.Len(), 1))) <= leastLoss*deviation {
		t.Low = nil
		return
	}
	t.Low = tight(t.Low)
}
