// Package golden finds the maximum of a function by golden section search.
package golden

const section = 0.6180339887498949 // (sqrt(5) - 1) / 2

// Maximum returns the place of the maximum between low and high of a function with one
// peak. Each step calls f once and leaves 0.618 of the interval.
func Maximum(low, high float64, steps int, f func(float64) float64) float64 {
	a, b := high-section*(high-low), low+section*(high-low)
	atA, atB := f(a), f(b)
	for range steps {
		if atA >= atB {
			high, b, atB = b, a, atA
			a = high - section*(high-low)
			atA = f(a)
		} else {
			low, a, atA = a, b, atB
			b = low + section*(high-low)
			atB = f(b)
		}
	}
	return (low + high) / 2
}
