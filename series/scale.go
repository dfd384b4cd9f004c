package series

import (
	"math"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// Limits of a scale.
const (
	leastScale = 1e-5
	mostScale  = 1e5
)

// NewScales returns the scales of series before their data, nil if the prior has none.
func (p *Prior) NewScales(series int) []float32 {
	if p.ScaleSpread == 0 {
		return nil
	}
	c := make([]float32, series)
	for e := range c {
		c[e] = 1
	}
	return c
}

// learnScales moves the logarithm of the scale c of each series towards the maximum of
//
//	log Z(c) - (log c)^2 / (2 ScaleSpread^2),
//
// where log Z is the log evidence of its sites; a first call does several moves. It costs
// four to ten runs of the filter over all sites.
func (p *Process) learnScales(workers []worker, cut []int, fresh bool) {
	moves := 1
	if fresh {
		moves = firstScaleMoves
	}
	for i := range workers {
		if workers[i].m != nil {
			workers[i].m.reset(p.Prior)
		}
	}
	parallel.ForWorkers(len(workers), len(cut)-1, func(w, s int) {
		m, points := workers[w].with(p.Prior), workers[w].points
		for e := cut[s]; e < cut[s+1]; e++ {
			score := func(logScale float64) float64 {
				p.Scale[e] = float32(min(max(math.Exp(logScale), leastScale), mostScale))
				points = p.points(points[:0], e, learnSites)
				m.filter(points)
				known := 0.0
				for _, pt := range points {
					if pt.Precision > 0 {
						known++
					}
				}
				return m.evidence() - known*logScale - p.scalePenalty(math.Exp(logScale))
			}
			at := math.Log(p.scale(e))
			top := score(at)
			for range moves {
				by, best := uphill(top, func(by float64) float64 { return score(at + by) })
				at, top = at+by, best
			}
			p.Scale[e] = float32(min(max(math.Exp(at), leastScale), mostScale))
		}
		workers[w].points = points
	})
}

// scalePenalty returns the negative logarithm of the density of log c at a scale, up to a
// constant.
func (p *Process) scalePenalty(c float64) float64 {
	if p.Scale == nil {
		return 0
	}
	u := math.Log(c) / p.Prior.ScaleSpread
	return u * u / 2
}

// firstScaleMoves is the number of moves of each scale in the first call.
const firstScaleMoves = 3
