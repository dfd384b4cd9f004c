//go:build !amd64

package predictive

func (l *momentLanes) advance(s *polynomialScale, n int) { l.advanceGo(s, n) }
