package predictive

// Levels are levels of quantiles that many distributions are asked for. The scores at the
// levels are computed once per score distribution, of which a table has few. It is not
// safe for concurrent use.
type Levels struct {
	p      []float64
	scores map[*ScoreDistribution][]float64

	curve    *float64 // of the heaped values whose levels unmapped has
	unmapped []float64
}

// NewLevels returns levels in (0, 1).
func NewLevels(p []float64) *Levels {
	return &Levels{p: p, scores: map[*ScoreDistribution][]float64{}}
}

// maxLevelScores bounds the score distributions that are remembered.
const maxLevelScores = 1 << 12

// at returns the scores at the levels.
func (l *Levels) at(s *ScoreDistribution) []float64 {
	z, ok := l.scores[s]
	if !ok {
		z = make([]float64, len(l.p))
		for i, p := range l.p {
			z[i] = s.Quantile(p)
		}
		if len(l.scores) == maxLevelScores {
			clear(l.scores)
		}
		l.scores[s] = z
	}
	return z
}

// unmap returns [Heaped.unmapped] of the levels.
func (l *Levels) unmap(h *Heaped) []float64 {
	if len(h.curve) == 0 {
		return l.p
	}
	if l.curve != &h.curve[0] {
		l.curve, l.unmapped = &h.curve[0], l.unmapped[:0]
		for _, p := range l.p {
			l.unmapped = append(l.unmapped, h.unmapped(p))
		}
	}
	return l.unmapped
}

// QuantilesAt is Quantiles for levels that other distributions are asked for too.
func (d Distribution) QuantilesAt(dst []float64, l *Levels) {
	if d.heap != nil {
		for i, unmapped := range l.unmap(d.heap) {
			dst[i] = d.heapQuantileAt(l.p[i], unmapped)
		}
		return
	}
	if d.IsDiscrete() {
		d.Quantiles(dst, l.p)
		return
	}
	for i, z := range l.at(d.scores) {
		dst[i] = d.fromScore(z)
	}
}
