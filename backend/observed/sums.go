package observed

// Sums are sums over the residuals r of all terms and the offset.
type Sums struct {
	Residual float64 // w r
	Square   float64 // w r^2
	Weight   float64 // w
}

func (s Sums) add(o Sums) Sums {
	return Sums{s.Residual + o.Residual, s.Square + o.Square, s.Weight + o.Weight}
}

// Plus returns the sums over the observations of both.
func (s Sums) Plus(o Sums) Sums { return s.add(o) }

// Shifted returns the sums after the offset increased by a number.
func (s Sums) Shifted(by float64) Sums {
	s.Square += by * (by*s.Weight - 2*s.Residual)
	s.Residual -= by * s.Weight
	return s
}

// Residuals returns the sums over the residuals. It costs one pass over the values of the
// term whose target is known, or else over the values of all terms.
func (d *Data) Residuals(offset float32) Sums {
	k := d.of
	if k < 0 || d.offset != offset || len(d.partners(k)) > 0 {
		k = None
		d.Target(None, offset)
	}
	if d.hasSums(k) {
		return d.effectResiduals(k)
	}
	return reduce(d, func(from, to int) Sums {
		target := d.target[from:to]
		var mean []float32
		if k >= 0 {
			mean = d.term(k).values(from, to, make([]float32, len(target)))[:len(target)]
		}
		var s Sums
		for n, r := range target {
			if mean != nil {
				r -= mean[n]
			}
			v := float64(r)
			if d.W == nil {
				s.Residual += v
				s.Square += v * v
				continue
			}
			w := float64(d.W[from+n])
			s.Weight += w
			s.Residual += w * v
			s.Square += w * v * v
		}
		if d.W == nil {
			s.Weight = float64(len(target))
		}
		return s
	}, Sums.add)
}

// Spreads returns the sum of w Var f over the observations for a plain sum of terms,
// without the offset.
func (d *Data) Spreads() float64 {
	sum := 0.0
	for _, terms := range [][]*Term{d.Terms, d.Added} {
		for _, t := range terms {
			sum += d.Spread(t)
		}
	}
	return sum
}

// Gain returns the sum of w ((r + g)^2 - r^2 - Var g) over the observations for the
// values g of term k: by how much the expected loss would grow without it.
func (d *Data) Gain(k int, offset float32) float64 {
	d.Target(None, offset)
	t := d.Terms[k]
	gain := d.Sum(func(n int) float64 {
		g := float64(t.at(n))
		return d.weightAt(n) * g * (2*float64(d.target[n]) + g)
	})
	return gain - d.Spread(t)
}

// SquareOf returns the sum of the squares of the values of term k.
func (d *Data) SquareOf(k int) float64 {
	t := d.Terms[k]
	return d.Sum(func(n int) float64 { return float64(t.at(n)) * float64(t.at(n)) })
}

// Sum adds a value of every observation.
func (d *Data) Sum(value func(n int) float64) float64 {
	return reduce(d, func(from, to int) float64 {
		sum := 0.0
		for n := from; n < to; n++ {
			sum += value(n)
		}
		return sum
	}, func(a, b float64) float64 { return a + b })
}
