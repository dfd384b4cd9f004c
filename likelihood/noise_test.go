package likelihood

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// drawErrors draws errors with noise variance 2 a_i b_j. Entity 0 of each mode
// is never seen.
func drawErrors(rows int, sizes []int, spread float64) (Errors, [][]int32, [][]float64) {
	rng := randstream.New(3, "noise")
	factors, codes := make([][]float64, len(sizes)), make([][]int32, len(sizes))
	for k, size := range sizes {
		logs := 0.0
		for range size {
			factors[k] = append(factors[k], spread*rng.NormFloat64())
			logs += factors[k][len(factors[k])-1] / float64(size)
		}
		for i := range factors[k] {
			factors[k][i] = math.Exp(factors[k][i] - logs)
		}
	}
	var errors Errors
	for range rows {
		s2 := 2.0
		for k, size := range sizes {
			code := int32(1 + rng.IntN(size-1))
			codes[k] = append(codes[k], code)
			s2 *= factors[k][code]
		}
		w := float32(1 + rng.IntN(2))
		e := math.Sqrt(s2/float64(w)) * rng.NormFloat64()
		errors.Squared, errors.Weight = append(errors.Squared, float32(e*e)), append(errors.Weight, w)
	}
	return errors, codes, factors
}

func TestByEntityRecovers(t *testing.T) {
	t.Parallel()
	for _, sizes := range [][]int{{40}, {40, 25}} {
		errors, codes, factors := drawErrors(40000, sizes, 0.7)
		b := FitByEntity(errors, codes, sizes, nil, 2)
		worst := 0.0
		for row := range errors.Squared {
			want := 2.0
			for k := range sizes {
				want *= factors[k][codes[k][row]]
			}
			worst = max(worst, math.Abs(math.Log(b.At(codes, row)/want)))
		}
		// The standard deviation of a log variance is sqrt(2/n) with n about
		// 1000. The tolerance is four of these for two modes.
		near(t, "log variance", worst, 0, 0.25)
		for _, m := range b.Modes {
			logs, mean := 0.0, 0.0
			for _, v := range m.ByCode[1:] {
				logs += math.Log(v)
				mean += v / float64(len(m.ByCode)-1)
			}
			near(t, "mean log factor", logs, 0, 1e-9)
			near(t, "unseen", m.ByCode[0], mean, 1e-9)
			near(t, "outside", m.At(-1)+m.At(1000), 2*mean, 1e-9)
			// Factors with log sd 0.7 correspond to a strength of about
			// 2/0.7^2.
			near(t, "log strength of mode", math.Log(m.Strength), math.Log(2/0.49), 0.8)
		}
	}
}

// TestByEntityShrinks checks that with equal variances the prior is strong and
// small entities stay near it.
func TestByEntityShrinks(t *testing.T) {
	t.Parallel()
	errors, codes, _ := drawErrors(3000, []int{300}, 0)
	b := FitByEntity(errors, codes, []int{300}, nil, 2)
	if b.Modes[0].Strength < 50 {
		t.Errorf("strength is %g for entities with equal noise, want at least 50", b.Modes[0].Strength)
	}
	for _, f := range b.Modes[0].ByCode {
		near(t, "factor", f, 1, 0.25)
	}
	near(t, "variance", b.Variance/FitConstant(errors, 2).Variance, 1, 0.02)
}

// TestByEntityFormula compares the estimate of one mode with its formula.
func TestByEntityFormula(t *testing.T) {
	t.Parallel()
	errors := Errors{Squared: []float32{1, 4, 9, 2, 2, 30, 0.5, 0.1}}
	codes := [][]int32{{0, 0, 1, 1, 1, 2, 3, 3}}
	b := FitByEntity(errors, codes, []int{4}, nil, 2)
	nu := b.Modes[0].Strength
	sum, count := []float64{5, 13, 30, 0.6}, []float64{2, 3, 1, 2}
	seen := squares{sum: sum, count: count, threads: 2}
	start := seen.start()
	s0 := seen.bestScale(nu, &start)
	for i := range sum {
		near(t, "s2", b.Variance*b.Modes[0].ByCode[i], (nu*s0+sum[i])/(nu+count[i]), 1e-6)
	}
	p := prior{nu, s0}
	for _, other := range []prior{{nu * 1.1, s0}, {nu / 1.1, s0}, {nu, s0 * 1.05}, {nu, s0 / 1.05}} {
		if other.strength > minStrength && other.logMarginal(seen) > p.logMarginal(seen) {
			t.Errorf("prior %v has a larger marginal likelihood than the estimate %v", other, p)
		}
	}
}

// logLikelihood returns -1/2 sum [log(2 pi s2_n) + w e_n / s2_n] over the rows
// with positive weight, where variance returns s2 of a row.
func logLikelihood(errors Errors, variance func(row int) float64) float64 {
	sum := 0.0
	for i := range errors.Squared {
		if squared, ok := errors.at(i); ok {
			s2 := variance(i)
			sum -= math.Log(2*math.Pi*s2) + squared/s2
		}
	}
	return sum / 2
}

func TestPowerRecovers(t *testing.T) {
	t.Parallel()
	rng := randstream.New(4, "power")
	for _, c := range []struct{ scale, exponent float64 }{{0.5, 1}, {0.09, 2}, {3, 0}, {2, -0.7}} {
		var errors Errors
		var mean []float32
		truth := Power{c.scale, c.exponent, 0.2}
		for range 30000 {
			m := math.Exp(1 + 1.2*rng.NormFloat64())
			if rng.IntN(20) == 0 {
				m = -m // predictions can be negative on the identity scale
			}
			e := math.Sqrt(truth.At(m)) * rng.NormFloat64()
			errors.Squared, mean = append(errors.Squared, float32(e*e)), append(mean, float32(m))
		}
		p := FitPower(errors, mean, 2)
		near(t, "exponent", p.Exponent, c.exponent, 0.08)
		for _, m := range []float64{0.5, 3, 30} {
			near(t, "log variance", math.Log(p.At(m)/truth.At(m)), 0, 0.12)
		}
		at := func(row int) float64 { return p.At(float64(mean[row])) }
		constant := FitConstant(errors, 2)
		if got, least := logLikelihood(errors, at), logLikelihood(errors, func(int) float64 { return constant.Variance }); got < least-1 {
			t.Errorf("log likelihood is %g, want at least %g, that of a constant variance", got, least)
		}
		for _, m := range []float64{0, -1e30, 1e-30} {
			if v := p.At(m); !(v > 0) || math.IsInf(v, 0) {
				t.Errorf("variance is %g at mean %g, want a positive finite number", v, m)
			}
		}
	}
}

func TestNoiseOfLittleData(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]float64{
		"no rows":           FitConstant(Errors{}, 2).Variance,
		"no weight":         FitConstant(Errors{[]float32{3}, []float32{0}}, 2).Variance,
		"exact":             FitConstant(Errors{Squared: []float32{0, 0}}, 2).Variance,
		"entity, no rows":   FitByEntity(Errors{}, [][]int32{{}}, []int{3}, nil, 2).At([][]int32{{1}}, 0),
		"entity, exact":     FitByEntity(Errors{Squared: []float32{0, 0}}, [][]int32{{0, 1}}, []int{3}, nil, 2).At([][]int32{{1}}, 0),
		"entity, one row":   FitByEntity(Errors{Squared: []float32{2}}, [][]int32{{0}}, []int{3}, nil, 2).At([][]int32{{2}}, 0),
		"entity, no entity": FitByEntity(Errors{Squared: []float32{2}}, [][]int32{{-1}}, []int{3}, nil, 2).At([][]int32{{2}}, 0),
		"power, no rows":    FitPower(Errors{}, nil, 2).At(3),
		"power, negative":   FitPower(Errors{Squared: []float32{2, 3}}, []float32{-1, -2}, 2).At(3),
		"power, one mean":   FitPower(Errors{Squared: []float32{2, 3}}, []float32{5, 5}, 2).At(3),
		"power, exact":      FitPower(Errors{Squared: []float32{0, 0, 0}}, []float32{1, 2, 5}, 2).At(3),
		"power, outlier":    FitPower(Errors{Squared: []float32{0, 0, 1e30}}, []float32{1, 2, 5e20}, 2).At(3),
	} {
		if !(v > 0) || math.IsInf(v, 0) {
			t.Errorf("%s: variance is %g, want a positive finite number", name, v)
		}
	}
}

func TestNoiseSurvivesJSON(t *testing.T) {
	t.Parallel()
	errors, codes, _ := drawErrors(500, []int{4, 3}, 0.5)
	for _, model := range []any{FitConstant(errors, 2), FitByEntity(errors, codes, []int{4, 3}, nil, 2), FitPower(errors, errors.Weight, 2), NegativeBinomial{2.5}} {
		text, err := json.Marshal(model)
		if err != nil {
			t.Fatal(err)
		}
		back := reflect.New(reflect.TypeOf(model))
		if err := json.Unmarshal(text, back.Interface()); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back.Elem().Interface(), model) {
			t.Errorf("%s was decoded as %v", text, back.Elem())
		}
	}
}

func BenchmarkNoise(b *testing.B) {
	errors, codes, _ := drawErrors(200000, []int{900, 200}, 0.5)
	mean := make([]float32, len(errors.Squared))
	rng := randstream.New(1, "mean")
	for i := range mean {
		mean[i] = float32(math.Exp(rng.NormFloat64()))
	}
	b.Run("entity", func(b *testing.B) {
		for b.Loop() {
			FitByEntity(errors, codes[:1], []int{900}, nil, 2)
		}
	})
	b.Run("two modes", func(b *testing.B) {
		for b.Loop() {
			FitByEntity(errors, codes, []int{900, 200}, nil, 2)
		}
	})
	b.Run("power", func(b *testing.B) {
		for b.Loop() {
			FitPower(errors, mean, 2)
		}
	})
}

// A variance that is a power of the mean times factors of entities is recovered.
func TestPowerByEntityRecovers(t *testing.T) {
	t.Parallel()
	sizes := []int{40, 25}
	errors, codes, factors := drawErrors(40000, sizes, 0.7)
	rng := randstream.New(4, "mean")
	mean := make([]float32, len(errors.Squared))
	for i := range mean {
		mean[i] = float32(math.Exp(rng.NormFloat64()))
		errors.Squared[i] *= float32(math.Pow(float64(mean[i]), 1.4))
	}
	power, b := FitPowerByEntity(errors, mean, codes, sizes, nil, 2)
	near(t, "exponent", power.Exponent, 1.4, 0.05)
	worst := 0.0
	for row, m := range mean {
		if m < 0.3 || m > 3 { // the floor, and what follows from an exponent that is off
			continue
		}
		want := 2 * factors[0][codes[0][row]] * factors[1][codes[1][row]] * math.Pow(float64(m), 1.4)
		worst = max(worst, math.Abs(math.Log(b.At(codes, row)*power.At(float64(m))/want)))
	}
	near(t, "log variance", worst, 0, 0.3)
}

// Sums of sorted rows are those of the rows in their order, to the last bit, for any number of threads.
func TestSumsByEntity(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 2, 63, 64, 65, 5000} {
		rng := randstream.New(7, "entities")
		codes, values := make([]int32, 3*parallel.Block+17), make([]float32, 3*parallel.Block+17)
		sum, count := make([]float64, size), make([]float64, size)
		for row := range codes {
			codes[row], values[row] = int32(rng.IntN(size+2))-1, rng.Float32()-0.1
			if code := int(codes[row]); code >= 0 && code < size && values[row] >= 0 {
				sum[code] += float64(values[row])
				count[code]++
			}
		}
		for _, threads := range []int{1, 2, 7} {
			rows := newBucketedRows(len(codes))
			rows.sort(threads, codes, size, func(part []float32, from int) { copy(part, values[from:]) })
			gotSum, gotCount := rows.sums(threads, size)
			if !slices.Equal(gotSum, sum) || !slices.Equal(gotCount, count) {
				t.Errorf("%d entities, %d threads: sums differ", size, threads)
			}
		}
	}
}
