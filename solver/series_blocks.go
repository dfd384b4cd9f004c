package solver

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend/observed"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/series"
	"github.com/kernel-fried-tensor/kft/tt/seriesterm"
)

// A series term is one block. Its data are sites: what the other terms leave of the
// observations of a series and a step, with their summed precision w / s2. Given the
// sites its posterior is exact, and its part of the bound is
//
//	-KL = log Z - sum_n E log site_n,
//
// with the evidence Z from the filter. An update costs one sum over the observations,
// evaluations of the evidence on a sample of the series to learn the prior, and one
// filter and smoother over all sites.
type seriesValues struct {
	term       *seriesterm.Term
	offered    series.Prior // from which runs start
	site       []int32      // by observation; -1 for none
	order      []int32      // observations in the order of their sites, those without one last
	values     *observed.Term
	divergence float64
	stale      bool // mean and variance do not belong to the sites
	points     bool // variances are taken as zero
}

// newSeries prepares the series terms of the field for the training observations.
func (d *data) newSeries(train Observations) {
	for _, t := range d.field.Series {
		s := &seriesValues{term: t, offered: t.Prior, values: observed.NewPart(d.b, len(d.y)), stale: true}
		t.Process, s.site, s.order = t.NewSites(d.b.Threads(), t.Prior, train.Codes)
		d.series = append(d.series, s)
	}
}

// resetSeries discards what the series terms learned.
func (d *data) resetSeries() {
	for _, s := range d.series {
		s.term.Prior = s.offered
		s.term.Scale = s.offered.NewScales(s.term.Series())
		clear(s.term.Value)
		clear(s.term.Precision)
		s.stale = true
	}
}

// evaluate recomputes the moments at the observations if the sites changed.
func (s *seriesValues) evaluate(threads int, points bool) {
	if !s.stale && s.points == points {
		return
	}
	mean, variance := make([]float32, len(s.term.Step)), make([]float32, len(s.term.Step))
	s.divergence, _ = s.term.Smooth(threads, mean, variance)
	if points {
		clear(variance)
	}
	s.values.Set(threads, s.site, mean, variance)
	s.stale, s.points = false, points
}

// updateSeries sets the sites of a series term to what the other terms leave, and its
// posterior to the optimum, for observations with the given noise.
func (a *residuals) updateSeries(s *seriesValues, noise float64, learn, sharpen bool) {
	a.residualFor(len(a.terms) + slices.Index(a.d.series, s))
	target, _ := a.obs.Values()
	t := s.term
	fresh := true
	for _, p := range t.Precision {
		if p > 0 {
			fresh = false
			break
		}
	}
	s.eachSite(a.d.b.Threads(), func(at int32, observations []int32) {
		weight, sum := 0.0, 0.0
		for _, n := range observations {
			w := weightAt(a.d.w, int(n))
			weight += w
			sum += w * float64(target[n])
		}
		t.Value[at], t.Precision[at] = 0, float32(weight/noise)
		if weight > 0 {
			t.Value[at] = float32(sum / weight)
		}
	})
	if learn {
		if sharpen && s.single() {
			fresh = t.Sharpen(a.d.b.Threads(), s.offered) || fresh
		}
		t.Learn(a.d.b.Threads(), fresh)
	}
	s.stale = true
	s.evaluate(a.d.b.Threads(), a.points)
	a.knownLoss = nil
	a.d.passes++
}

// sharpenSweep is the sweep in which series beside other terms are learned together with the noise.
// Before it, the others find what they can explain, which series that follow every observation
// would not leave them.
const sharpenSweep = 6

// siteLearnings is the number of sweeps in which the priors of series of sites are learned one after
// the other; then every siteLearning-th sweep learns them. Sites have precisions of their own, so their covariances are
// not those of other series, and learning a prior takes longer than all else in a sweep.
const (
	siteLearnings = 6
	siteLearning  = 3
)

// learnsSeries reports whether the current sweep learns the priors of series.
func (a *cavi) learnsSeries() bool {
	n := a.run.Sweep - siteLearnings
	return !a.fixed && (a.d.sites == nil || n < 0 || n%siteLearning == siteLearning-1)
}

// single reports whether each site has one observation. The noise of others shows within a site.
func (s *seriesValues) single() bool { return len(s.site) == len(s.term.Step) }

// sharpens returns the sweep in which series are learned together with the noise: the first if
// there are no other terms, -1 for none.
func (d *data) sharpens() int {
	switch {
	case !slices.ContainsFunc(d.series, (*seriesValues).single) || d.sites != nil || d.givenNoise > 0 || d.field.Group != nil:
		return -1
	case len(d.field.Terms) == 0:
		return 0
	}
	return sharpenSweep
}

// eachSite calls work for every site with its observations, in their order. A site belongs
// to the block of its first observation.
func (s *seriesValues) eachSite(threads int, work func(at int32, observations []int32)) {
	parallel.Blocks(threads, len(s.order), func(from, to int) {
		for i := from; i < to; {
			at, end := s.site[s.order[i]], i+1
			if at < 0 {
				return
			}
			for end < len(s.order) && s.site[s.order[end]] == at {
				end++
			}
			if i == 0 || s.site[s.order[i-1]] != at {
				work(at, s.order[i:end])
			}
			i = end
		}
	})
}

// updatePointSeries updates a series term beside point estimates, with the mean squared
// error as noise.
func (a *residuals) updatePointSeries(s *seriesValues, learn bool) {
	a.changed()
	a.updateSeries(s, a.pointNoise(), learn, false)
	a.updateOffset()
}

// seriesLabel names the block of a series term in progress reports.
func (d *data) seriesLabel(i int) string { return d.field.Series[i].Label }

// flattenSeries appends the learned numbers of the series terms.
func (d *data) flattenSeries(dst []float32) []float32 {
	for _, s := range d.series {
		dst = append(dst, s.term.Prior.Values()...)
		dst = append(dst, s.term.Scale...)
		dst = append(append(dst, s.term.Value...), s.term.Precision...)
	}
	return dst
}

// restoreSeries sets what flattenSeries appended and returns the rest.
func (d *data) restoreSeries(src []float32) []float32 {
	for _, s := range d.series {
		src = src[s.term.Prior.SetValues(src):]
		src = src[copy(s.term.Scale, src):]
		src = src[copy(s.term.Value, src):]
		src = src[copy(s.term.Precision, src):]
		s.stale = true
	}
	return src
}
