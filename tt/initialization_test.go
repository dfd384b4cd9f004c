package tt

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/ref"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// trend is an operator with a column of ones and a linear trend.
type trend int

func (o trend) Rows() int    { return int(o) }
func (o trend) Columns() int { return 2 }
func (o trend) Matrix() []float32 {
	var a []float32
	for i := range o {
		a = append(a, 1, float32(i)/float32(o))
	}
	return a
}

// A regression of a joint core starts with its shared part for every id of a mode
// without operator.
func TestInitialJointRegression(t *testing.T) {
	t.Parallel()
	codes := [][]int32{nil, nil, nil}
	for i := range int32(5 * 7 * 4) {
		codes[0], codes[1], codes[2] = append(codes[0], i%5), append(codes[1], i/5%7), append(codes[2], i/35)
	}
	left, err := entity.NewIndex([]int{0}, []int{5, 7, 4}, codes)
	if err != nil {
		t.Fatal(err)
	}
	right, err := entity.NewIndex([]int{1, 2}, []int{5, 7, 4}, codes)
	if err != nil {
		t.Fatal(err)
	}
	train := NewTrain([][]string{{"a"}, {"b", "c"}}, []*entity.Index{left, right}, []int{3})
	c := train.Cores[1]
	m, err := regression.NewLinearMap(right, []regression.Operator{nil, trend(4)}, c.Slices.Slice())
	if err != nil {
		t.Fatal(err)
	}
	if n := m.Systems(); n != 7 {
		t.Fatalf("got %d systems, want 7, one per id", n)
	}
	c.Regress(Side, m, nil)
	train.Initialize(ref.Backend{}, rand.New(rand.NewPCG(1, 1)), 1)
	size := c.Slices.Slice()
	mean := make([]float64, 7)
	for e := range c.Slices.N - 1 {
		for _, v := range c.Slices.Mean[e*size:][:size] {
			mean[right.Combinations()[2*e]] += float64(v) / float64(4*size)
		}
	}
	for b, v := range mean {
		if !(v > 0.2 && v < 2) {
			t.Errorf("id %d: got an initial mean of %.3f, want one in (0.2, 2)", b, v)
		}
	}
}

// In a product, an anchored factor starts near 1 and the other at the scale of the
// target. The bias starts small.
func TestInitialProduct(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	codes := make([][]int32, 3)
	for m, n := range []int{30, 20, 6} {
		for range 4000 {
			codes[m] = append(codes[m], int32(rng.IntN(n)))
		}
	}
	f := &Field{Group: []int{0, 0, 1}}
	for range 3 {
		var index []*entity.Index
		for m := range 3 {
			x, err := entity.NewIndex([]int{m}, []int{30, 20, 6}, codes)
			if err != nil {
				t.Fatal(err)
			}
			index = append(index, x)
		}
		f.Terms = append(f.Terms, NewTrain([][]string{{"a"}, {"b"}, {"c"}}, index, []int{8, 8}))
	}
	f.Terms[1].AnchorAtOne()
	f.Initialize(ref.Backend{}, func(k int) *rand.Rand { return rand.New(rand.NewPCG(7, uint64(k))) }, 1)
	for k, want := range []struct{ mean, sd float64 }{{0, 1}, {1, 0.35}, {0, 0.1}} {
		v := make([]float32, 4000)
		(&Field{Terms: f.Terms[k : k+1]}).Evaluate(ref.Backend{}, v, codes)
		sum, square := 0.0, 0.0
		for _, x := range v {
			sum += float64(x) / 4000
			square += float64(x) * float64(x) / 4000
		}
		sd := math.Sqrt(square - sum*sum)
		if math.Abs(sum-want.mean) > 0.7*want.sd || sd < want.sd/2.5 || sd > want.sd*2.5 {
			t.Errorf("term %d: got mean %.3f and sd %.3f, want about %g and %g", k, sum, sd, want.mean, want.sd)
		}
	}
}
