package predictive

// Levels are levels of quantiles that many distributions are asked for. The scores at the
// levels are computed once per score distribution, of which a table has few. It is not
// safe for concurrent use.
type Levels struct {
	p      []float64
	scores map[*ScoreDistribution][]float64
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

// QuantilesAt is Quantiles for levels that other distributions are asked for too.
func (d Distribution) QuantilesAt(dst []float64, l *Levels) {
	if d.IsDiscrete() {
		d.Quantiles(dst, l.p)
		return
	}
	for i, z := range l.at(d.scores) {
		dst[i] = d.fromScore(z)
	}
}
