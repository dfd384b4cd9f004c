package series

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// covariance returns Cov(x(s), x(t)) by the recursions of the definition of Prior.
func covariance(p Prior, s, t int32) float64 {
	if s > t {
		s, t = t, s
	}
	level, slope, cross := p.Level, p.Slope, 0.0
	for range s {
		slope, cross, level = p.Damping*p.Damping*slope+p.SlopeWalk, p.Damping*cross+p.Damping*p.Damping*slope+p.SlopeWalk,
			level+p.Walk+2*p.Damping*cross+p.Damping*p.Damping*slope+p.SlopeWalk
	}
	gain, damp := 0.0, 1.0
	for range t - s {
		damp *= p.Damping
		gain += damp
	}
	k := p.DriftVar*line(p, s)*line(p, t) + level + gain*cross + p.AR*math.Pow(p.Phi, float64(t-s))
	for _, season := range p.Seasons {
		for h := 1; h <= season.Harmonics; h++ {
			k += season.Var / float64(season.Harmonics) * math.Cos(2*math.Pi*float64(h)*float64(t-s)/season.Period)
		}
	}
	return k
}

// line returns the loading of the rise of a drift.
func line(p Prior, t int32) float64 {
	if p.DriftSpan == 0 {
		return 0
	}
	return float64(t)/p.DriftSpan - 0.5
}

// dense computes mean and variance at steps, and the log evidence, by Cholesky
// decomposition of the covariance matrix of the sites.
func dense(p Prior, points []Point, steps []int32) (mean, variance []float64, logZ float64) {
	n := len(points)
	l := make([][]float64, n)
	solve := func(b []float64) []float64 { // L^-1 b
		x := make([]float64, n)
		for i := range n {
			x[i] = b[i]
			for j := range i {
				x[i] -= l[i][j] * x[j]
			}
			x[i] /= l[i][i]
		}
		return x
	}
	y := make([]float64, n)
	for i, a := range points {
		l[i] = make([]float64, n)
		y[i] = a.Value - p.Drift*line(p, a.Step)
		for j := range i + 1 {
			v := covariance(p, a.Step, points[j].Step)
			if i == j {
				v += 1 / a.Precision
			}
			for k := range j {
				v -= l[i][k] * l[j][k]
			}
			if i == j {
				l[i][i] = math.Sqrt(v)
			} else {
				l[i][j] = v / l[j][j]
			}
		}
	}
	z := solve(y)
	for i := range n {
		logZ -= z[i]*z[i]/2 + math.Log(l[i][i]) + math.Log(2*math.Pi)/2
	}
	for _, s := range steps {
		k := make([]float64, n)
		for i, a := range points {
			k[i] = covariance(p, s, a.Step)
		}
		w := solve(k)
		m, v := p.Drift*line(p, s), covariance(p, s, s)
		for i := range w {
			m += w[i] * z[i]
			v -= w[i] * w[i]
		}
		mean, variance = append(mean, m), append(variance, v)
	}
	return mean, variance, logZ
}

var priors = map[string]Prior{
	"level":   {Level: 0.7},
	"walk":    {Level: 0.3, Walk: 0.05},
	"ar":      {Level: 0.2, AR: 0.6, Phi: 0.8},
	"all":     {Level: 0.2, Walk: 0.02, AR: 0.3, Phi: 0.6, Seasons: []Season{{Period: 12, Harmonics: 3, Var: 0.4}, {Period: 7, Harmonics: 2, Var: 0.1}}},
	"trend":   {Level: 0.5, Walk: 0.01, Slope: 0.02, SlopeWalk: 0.005, Damping: 0.9},
	"drift":   {Level: 0.5, Walk: 0.01, Drift: 0.8, DriftVar: 0.2, DriftSpan: 20},
	"shared":  {Level: 0.5, AR: 0.1, Phi: 0.5, Drift: -0.8, DriftSpan: 10, Seasons: []Season{{Period: 4, Harmonics: 2, Var: 0.3}}},
	"trended": {Level: 0.5, AR: 0.1, Phi: 0.5, Slope: 0.02, SlopeWalk: 0.005, Damping: 0.97, Seasons: []Season{{Period: 4, Harmonics: 2, Var: 0.3}}},
}

func TestReaderIsTheExactPosterior(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for name, prior := range priors {
		points := []Point{}
		p := &Process{Prior: prior, Start: []int32{0, 0}}
		for step := int32(2); len(points) < 9; step += 1 + rng.Int32N(4) {
			pt := Point{step, float64(float32(rng.NormFloat64())), float64(float32(0.5 + rng.Float64()*3))}
			points = append(points, pt)
			p.Step, p.Value, p.Precision = append(p.Step, step), append(p.Value, float32(pt.Value)), append(p.Precision, float32(pt.Precision))
		}
		p.Start[1] = int32(len(points))
		steps := []int32{0, 1, 2, 2, 5, 9, points[4].Step, points[8].Step, points[8].Step + 1, points[8].Step + 12}
		slices.Sort(steps)
		wantMean, wantVar, wantZ := dense(prior, points, steps)
		mean, variance := make([]float32, len(steps)), make([]float32, len(steps))
		p.NewReader().At(0, steps, mean, variance)
		for i := range steps {
			if math.Abs(float64(mean[i])-wantMean[i]) > 1e-5 || math.Abs(float64(variance[i])-wantVar[i]) > 1e-5 {
				t.Errorf("%s at step %d: mean %g, variance %g, want %g, %g", name, steps[i], mean[i], variance[i], wantMean[i], wantVar[i])
			}
		}
		siteMean, siteVar := make([]float32, len(points)), make([]float32, len(points))
		divergence, evidence := p.Smooth(2, siteMean, siteVar)
		if math.Abs(evidence-wantZ) > 1e-6*(1+math.Abs(wantZ)) {
			t.Errorf("%s: log evidence %g, want %g", name, evidence, wantZ)
		}
		if divergence < 0 {
			t.Errorf("%s: divergence %g is negative", name, divergence)
		}
		p.NewReader().At(-1, steps, mean, variance)
		for i, s := range steps {
			if want := prior.Variance(s); math.Abs(float64(mean[i])-prior.Drift*line(prior, s)) > 1e-6 || math.Abs(float64(variance[i])-covariance(prior, s, s)) > 1e-5 || math.Abs(want-covariance(prior, s, s)) > 1e-9 {
				t.Errorf("%s without data at step %d: mean %g, variance %g, Variance %g, want %g, %g", name, s, mean[i], variance[i], want, prior.Drift*line(prior, s), covariance(prior, s, s))
			}
		}
	}
}

func TestDrawsHaveTheMomentsOfThePosterior(t *testing.T) {
	t.Parallel()
	for name, prior := range priors {
		p := &Process{Prior: prior, Start: []int32{0, 3}, Step: []int32{3, 4, 8}, Value: []float32{1, 0.2, -0.5}, Precision: []float32{2, 0, 5}}
		steps := []int32{1, 4, 9, 12}
		mean, variance := make([]float32, 4), make([]float32, 4)
		r := p.NewReader()
		r.At(0, steps, mean, variance)
		const draws = 20000
		rng := rand.New(rand.NewPCG(3, 4))
		sum, square, draw := make([]float64, 4), make([]float64, 4), make([]float32, 4)
		total := 0.0 // of the variance of the sum of the last two
		for range draws {
			r.Draw(rng, 0, steps, draw)
			for i, v := range draw {
				sum[i] += float64(v)
				square[i] += float64(v) * float64(v)
			}
			d := float64(draw[2]+draw[3]) - float64(mean[2]+mean[3])
			total += d * d
		}
		for i := range steps {
			m := sum[i] / draws
			v := square[i]/draws - m*m
			if math.Abs(m-float64(mean[i])) > 5*math.Sqrt(float64(variance[i])/draws) || math.Abs(v/float64(variance[i])-1) > 0.06 {
				t.Errorf("%s at step %d: draws have mean %g and variance %g, want %g, %g", name, steps[i], m, v, mean[i], variance[i])
			}
		}
		if total/draws < float64(variance[2]+variance[3]) {
			t.Errorf("%s: draws of neighbouring steps are not positively correlated", name)
		}
	}
}

// simulated returns a process whose sites are drawn from its prior.
func simulated(prior Prior, series, length int, precision float64, seed uint64) *Process {
	rng := rand.New(rand.NewPCG(seed, 9))
	p := &Process{Prior: prior, Start: []int32{0}}
	m := newMachine(prior)
	points := make([]Point, length)
	for i := range points {
		points[i].Step = int32(i)
	}
	for range series {
		m.simulate(rng, points)
		for i, x := range m.simulated {
			p.Step, p.Precision = append(p.Step, int32(i)), append(p.Precision, float32(precision))
			p.Value = append(p.Value, float32(x+prior.Drift*line(prior, int32(i))+rng.NormFloat64()/math.Sqrt(precision)))
		}
		p.Start = append(p.Start, int32(len(p.Step)))
	}
	return p
}

func TestLearnRecoversThePrior(t *testing.T) {
	t.Parallel()
	for name, truth := range map[string]Prior{
		"walk":   {Level: 0.5, Walk: 0.1},
		"ar":     {Level: 0.3, AR: 0.5, Phi: 0.85},
		"season": {Level: 0.2, Walk: 0.02, Seasons: []Season{{Period: 12, Harmonics: 3, Var: 0.4}}},
		"drift":  {Level: 0.2, Walk: 0.02, Drift: 2, DriftVar: 0.5, DriftSpan: 59},
		"trend":  {Level: 0.2, Walk: 0.02, Slope: 0.02, SlopeWalk: 0.01, Damping: 0.9},
	} {
		p := simulated(truth, 300, 60, 5, 1)
		guess := truth.withTheta(make([]float64, len(truth.theta())))
		for i := range guess.Seasons {
			guess.Seasons[i].Var = 0.01
		}
		guess.Level, guess.Walk = 0.01, 0.01*float64(min(1, math.Ceil(truth.Walk)))
		p.Prior = guess
		p.Learn(2, true)
		for range 12 {
			p.Learn(2, false)
		}
		check := func(what string, got, want, tolerance float64) {
			if math.Abs(math.Log(got/want)) > tolerance {
				t.Errorf("%s: %s is %g, want %g", name, what, got, want)
			}
		}
		got := p.Prior
		if truth.Walk > 0 {
			check("walk", got.Walk, truth.Walk, 0.3)
		}
		if truth.AR > 0 {
			check("ar", got.AR, truth.AR, 0.3)
			check("phi", got.Phi, truth.Phi, 0.05)
		}
		if truth.DriftSpan > 0 {
			check("drift", got.Drift, truth.Drift, 0.1)
			check("variance of the drift", got.DriftVar, truth.DriftVar, 0.4)
		}
		if truth.Slope > 0 {
			check("damping", got.Damping, truth.Damping, 0.1)
			check("slope walk", got.SlopeWalk, truth.SlopeWalk, 0.4)
		}
		for i := range truth.Seasons {
			check("season", got.Seasons[i].Var, truth.Seasons[i].Var, 0.3)
		}
	}
}

// TestForecastsCover checks that 90 % intervals of x + noise at horizons 1 to 12 hold 90 %.
func TestForecastsCover(t *testing.T) {
	t.Parallel()
	for name, prior := range priors {
		const horizon = 12
		truth := simulated(prior, 2000, 40, 4, 7)
		known := &Process{Prior: prior, Start: []int32{0}}
		for e := range truth.Series() {
			from, to := truth.Start[e], truth.Start[e+1]-horizon
			known.Step = append(known.Step, truth.Step[from:to]...)
			known.Value = append(known.Value, truth.Value[from:to]...)
			known.Precision = append(known.Precision, truth.Precision[from:to]...)
			known.Start = append(known.Start, int32(len(known.Step)))
		}
		r := known.NewReader()
		mean, variance := make([]float32, horizon), make([]float32, horizon)
		inside := make([]int, horizon)
		for e := range truth.Series() {
			future := truth.Start[e+1] - horizon
			r.At(e, truth.Step[future:future+horizon], mean, variance)
			for h := range horizon {
				sd := math.Sqrt(float64(variance[h]) + 0.25)
				if math.Abs(float64(truth.Value[int(future)+h]-mean[h])) < 1.6449*sd {
					inside[h]++
				}
			}
		}
		for h, n := range inside {
			if c := float64(n) / float64(truth.Series()); c < 0.88 || c > 0.92 {
				t.Errorf("%s: coverage %.3f at horizon %d", name, c, h+1)
			}
		}
	}
}

func TestSmoothIsTheSameForAnyNumberOfThreads(t *testing.T) {
	t.Parallel()
	p := simulated(priors["all"], 500, 30, 3, 5)
	var want []float32
	var wantKL float64
	for _, threads := range []int{1, 2, 7} {
		mean, variance := make([]float32, len(p.Step)), make([]float32, len(p.Step))
		kl, _ := p.Smooth(threads, mean, variance)
		got := append(mean, variance...)
		if want == nil {
			want, wantKL = got, kl
		}
		if !slices.Equal(got, want) || kl != wantKL {
			t.Errorf("%d threads give other bits", threads)
		}
	}
}

func TestCheckRefusesBrokenProcesses(t *testing.T) {
	t.Parallel()
	good := func() *Process {
		return &Process{Prior: Prior{Level: 1}, Start: []int32{0, 2, 3}, Step: []int32{1, 2, 0}, Value: []float32{1, 2, 3}, Precision: []float32{1, 0, 2}}
	}
	if err := good().Check(); err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(*Process){
		"start":     func(p *Process) { p.Start[1] = 9 },
		"no start":  func(p *Process) { p.Start = nil },
		"order":     func(p *Process) { p.Step[1] = 1 },
		"negative":  func(p *Process) { p.Step[2] = -1 },
		"far":       func(p *Process) { p.Step[2] = MaxStep + 1 },
		"NaN":       func(p *Process) { p.Value[0] = float32(math.NaN()) },
		"precision": func(p *Process) { p.Precision[0] = -1 },
		"length":    func(p *Process) { p.Value = p.Value[:2] },
		"variance":  func(p *Process) { p.Prior.Level = math.NaN() },
		"phi":       func(p *Process) { p.Prior.Phi = 1 },
		"period":    func(p *Process) { p.Prior.Seasons = []Season{{Period: 1, Harmonics: 1}} },
		"drift":     func(p *Process) { p.Prior.Drift = math.Inf(1) },
		"span":      func(p *Process) { p.Prior.DriftSpan = 0.5 },
		"spread":    func(p *Process) { p.Prior.ScaleSpread = math.NaN() },
		"scales":    func(p *Process) { p.Scale = []float32{1} },
		"scale":     func(p *Process) { p.Scale = []float32{1, 0} },
		"harmonics": func(p *Process) { p.Prior.Seasons = []Season{{Period: 12, Harmonics: 1 << 30}} },
	} {
		p := good()
		damage(p)
		if p.Check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func BenchmarkSmooth(b *testing.B) {
	for name, prior := range priors {
		p := simulated(prior, 20000, 10, 4, 1)
		mean, variance := make([]float32, len(p.Step)), make([]float32, len(p.Step))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p.Smooth(1, mean, variance)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(p.Step)), "ns/site")
		})
	}
}

// Series with the same steps and precisions share covariances; what a machine computes must not
// depend on the series before.
func TestFilterDoesNotDependOnSeriesBefore(t *testing.T) {
	t.Parallel()
	prior := Prior{Level: 1, Walk: 0.1, AR: 0.3, Phi: 0.7, Slope: 0.01, SlopeWalk: 0.01, Damping: 0.9, DriftVar: 0.2, DriftSpan: 30, Drift: 0.1, Seasons: []Season{{Period: 5, Harmonics: 2, Var: 0.5}}}
	source := rand.New(rand.NewPCG(1, 2))
	used := newMachine(prior)
	for k, n := range []int{7, 20, 20, 5, 31, 12, 0, 31, 40} {
		points := make([]Point, n)
		for i := range points {
			points[i] = Point{Step: int32(i + i/9), Value: source.NormFloat64(), Precision: 2}
			if i%7 == 3 {
				points[i].Precision = 0
			}
		}
		if k == 4 {
			points[3].Precision = 1.5 // of its own, so nothing is shared
		}
		if k == 7 {
			for i := range points {
				points[i].Step += 2
			}
		}
		fresh := newMachine(prior)
		for _, m := range []*machine{used, fresh} {
			m.filter(points)
			m.smooth(0)
		}
		if used.evidence() != fresh.evidence() || !slices.Equal(used.mean, fresh.mean) || !slices.Equal(used.variance, fresh.variance) {
			t.Errorf("series %d: got the evidence %g and the means %v, a new machine %g and %v", k, used.evidence(), used.mean, fresh.evidence(), fresh.mean)
		}
	}
	if len(used.path) != 40 {
		t.Errorf("got a path of %d sites", len(used.path))
	}
}
