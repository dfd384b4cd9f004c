package predictive

// advance is advanceGo with the vectors of the CPU.
func (l *momentLanes) advance(s *polynomialScale, n int) {
	if cellVectors {
		momentsAVX512(l, s, &normalTable)
		return
	}
	l.advanceGo(s, n)
}

//go:noescape
func momentsAVX512(lanes *momentLanes, scale *polynomialScale, table *[2*normalHalf + 1][2]float64)
