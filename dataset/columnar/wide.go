package columnar

// WideNumbers returns a segment of 64-bit numbers. NaN becomes null.
func WideNumbers(values []float64) Segment {
	s := Segment{n: len(values), f64: values}
	for i, v := range values {
		if v != v {
			if s.valid == nil {
				s.valid = allTrue(s.n)
			}
			s.valid[i] = false
		}
	}
	return s
}
