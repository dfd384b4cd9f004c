package likelihood

import (
	"fmt"
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// priorVariance is the variance of the prior of one unknown f ~ N(0,
// priorVariance) behind all counts. Its posterior q = N(m, v) is computed from
// the sites alone.
const priorVariance = 4.0

type fitSites func(cells Cells, out Sites, loop Loop) float64

// climb takes steps of the given length in the natural parameters and returns q
// and the ELBO before each step.
func climb(y []float32, fill fitSites, length float64, steps int) (m, v float64, elbo []float64) {
	cells := Cells{Y: y, Mean: make([]float32, len(y)), Variance: make([]float32, len(y))}
	out := Sites{make([]float32, len(y)), make([]float32, len(y))}
	v = priorVariance
	var precision, shift float64
	for range steps {
		for i := range y {
			cells.Mean[i], cells.Variance[i] = float32(m), float32(v)
		}
		value := fill(cells, out, nil)
		elbo = append(elbo, value-(m*m/priorVariance+v/priorVariance-1-math.Log(v/priorVariance))/2)
		var p, s float64
		for i := range y {
			p += float64(out.Precision[i])
			s += float64(out.Precision[i]) * float64(out.Target[i])
		}
		precision += length * (p - precision)
		shift += length * (s - shift)
		v = 1 / (1/priorVariance + precision)
		m = v * shift
	}
	return m, v, elbo
}

// TestSitesFindThePosterior checks that sites lead to the maximum of the ELBO,
// which is just below the log evidence, and that q has the moments of the exact
// posterior.
func TestSitesFindThePosterior(t *testing.T) {
	t.Parallel()
	rng := randstream.New(9, "inference")
	var y []float32
	for range 12 {
		y = append(y, float32(NegativeBinomial{3}.Draw(rng, 1.5)))
	}
	for _, c := range []struct {
		d      distribution
		fill   fitSites
		within float64 // largest difference of ELBO and log evidence
	}{
		{Poisson{}, Poisson{}.Sites, 3e-3},
		{NegativeBinomial{3}, NegativeBinomial{3}.Sites, 3e-3},
		{NegativeBinomial{3}, NegativeBinomial{3}.Bound, 0.5},
	} {
		what := fmt.Sprintf("%T", c.d)
		joint := func(f float64) float64 {
			sum := 0.0
			for _, v := range y {
				sum += c.d.LogProb(float64(v), f)
			}
			return sum
		}
		const centre = 1.5
		level := joint(centre)
		moment := func(k int) float64 {
			return integrate(0, priorVariance, func(f float64) float64 { return math.Exp(joint(f)-level) * math.Pow(f-centre, float64(k)) })
		}
		total := moment(0)
		mean := moment(1) / total
		sd := math.Sqrt(moment(2)/total - mean*mean)

		m, v, elbo := climb(y, c.fill, 0.5, 60)
		last := elbo[len(elbo)-1]
		if evidence := math.Log(total) + level; last > evidence+1e-5 || last < evidence-c.within {
			t.Errorf("%s: ELBO is %g, want just below the log evidence %g", what, last, evidence)
		}
		near(t, what+" mean, in sd", (m-centre-mean)/sd, 0, 0.05)
		near(t, what+" sd", math.Sqrt(v)/sd, 1, 0.05)
	}
}

// TestBoundNeverFalls checks that full steps with the bound never lower the
// ELBO, for any start and any data.
func TestBoundNeverFalls(t *testing.T) {
	t.Parallel()
	for _, y := range [][]float32{{0}, {0, 0, 0, 0}, {5000}, {0, 1, 900}} {
		for _, r := range []float64{0.1, 2, 50} {
			_, _, elbo := climb(y, NegativeBinomial{r}.Bound, 1, 100)
			for k := 1; k < len(elbo); k++ {
				if elbo[k] < elbo[k-1]-1e-5*(1+math.Abs(elbo[k])) {
					t.Fatalf("y %v r %g: step %d lowers the ELBO from %g to %g", y, r, k, elbo[k-1], elbo[k])
				}
			}
		}
	}
}
