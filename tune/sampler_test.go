package tune

import (
	"maps"
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// toy has its minimum 0 at lambda 0.1, rank 12 and kernel matern32. Rank and
// lambda interact.
func toy(v Values) float64 {
	l, r := math.Log10(v.Float("lambda"))+1, math.Log2(float64(v.Int("rank"))/12)
	loss := l*l + r*r + l*r
	if v["kernel"] != "matern32" {
		loss += 1
	}
	return loss
}

func toySpace() Space {
	return Space{mixed()[0], mixed()[2], mixed()[4]}
}

// search runs a sampler without a store and returns the lowest loss.
func search(s Sampler, space Space, trials int, objective func(Values) float64) float64 {
	best := math.Inf(1)
	var history []Observation
	for n := range trials {
		v := s.Propose(space, n, history)
		point, err := space.point(v)
		if err != nil {
			panic(err)
		}
		o := Observation{Point: point, Loss: objective(v)}
		history = append(history, o)
		best = min(best, o.Loss)
	}
	return best
}

func TestTPEBeatsRandom(t *testing.T) {
	const seeds, trials = 30, 40
	wins, tpe, random := 0, 0.0, 0.0
	for seed := range uint64(seeds) {
		a := search(TPE{Seed: seed}, toySpace(), trials, toy)
		b := search(Random{Seed: seed}, toySpace(), trials, toy)
		tpe, random = tpe+a/seeds, random+b/seeds
		if a < b {
			wins++
		}
	}
	t.Logf("mean of the lowest loss: tpe %.4f, random %.4f; tpe is better for %d of %d seeds", tpe, random, wins, seeds)
	if tpe > random/3 || wins < 24 {
		t.Errorf("got mean lowest loss %.4f for tpe and %.4f for random, better for %d of %d seeds", tpe, random, wins, seeds)
	}
}

func TestProposalsDependOnlyOnArguments(t *testing.T) {
	space := mixed()
	var history []Observation
	for n := range 30 {
		v := (TPE{Seed: 7}).Propose(space, n, history)
		if again := (TPE{Seed: 7}).Propose(space, n, history); !maps.Equal(v, again) {
			t.Fatalf("trial %d: got %v and then %v", n, v, again)
		}
		for what, other := range map[string]Values{"seed": TPE{Seed: 8}.Propose(space, n, history), "number": TPE{Seed: 7}.Propose(space, n+1, history)} {
			if maps.Equal(v, other) {
				t.Errorf("trial %d: a different %s gives the same values", n, what)
			}
		}
		point, err := space.point(v)
		if err != nil {
			t.Fatal(err)
		}
		loss := v.Float("share")
		if n%7 == 3 {
			loss = math.Inf(1)
		}
		history = append(history, Observation{Point: point, Loss: loss})
	}
}

// TPE does not repeat points of a space of 24 points while its draws contain
// new ones.
func TestTPEDoesNotRepeat(t *testing.T) {
	space := Space{{Name: "a", Kind: Integer, Low: 1, High: 8}, {Name: "b", Kind: Choice, Choices: []string{"x", "y", "z"}}}
	for seed := range uint64(5) {
		var history []Observation
		seen := map[[2]float64]int{}
		for n := range 24 {
			point, _ := space.point(TPE{Seed: seed, Start: 1}.Propose(space, n, history))
			history = append(history, Observation{Point: point, Loss: point[0]})
			seen[[2]float64(point)]++
		}
		if len(seen) < 21 {
			t.Errorf("seed %d: 24 trials tried %d of 24 points, want at least 21", seed, len(seen))
		}
	}
}

func TestTPESurvivesFailures(t *testing.T) {
	space := mixed()
	var history []Observation
	for n := range 25 {
		point, err := space.point(TPE{Seed: 1}.Propose(space, n, history))
		if err != nil {
			t.Fatal(err)
		}
		history = append(history, Observation{Point: point, Loss: math.Inf(1)})
	}
}

// Halton points are spread over the cells of a grid more evenly than random draws.
func TestHaltonIsEven(t *testing.T) {
	const points, cells = 64, 8
	worst := func(at func(n int) []float64, i, j int) int {
		count := [cells * cells / 4]int{}
		for n := range points {
			p := at(n)
			count[int(p[i]*cells/2)*cells/2+int(p[j]*cells/2)]++
		}
		most := 0
		for _, c := range count {
			most = max(most, c)
		}
		return most
	}
	const dims = 12
	even, uneven := 0, 0
	for i := range dims {
		for j := range i {
			even += worst(func(n int) []float64 { return halton(5, n, dims) }, i, j)
			uneven += worst(func(n int) []float64 {
				draw := randstream.New(5, "test", uint64(n))
				p := make([]float64, dims)
				for k := range p {
					p[k] = draw.Float64()
				}
				return p
			}, i, j)
		}
	}
	t.Logf("fullest of 16 cells over all pairs: halton %d, random %d", even, uneven)
	if float64(even) > 0.9*float64(uneven) {
		t.Errorf("fullest of 16 cells over all pairs: halton %d, random %d", even, uneven)
	}
}
