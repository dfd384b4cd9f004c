package synthetic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// attribute defines a column of side information. Exactly one of levels, choice, sd,
// place and copies defines its values.
type attribute struct {
	name    string
	drives  bool      // the truth depends on it; otherwise it has no effect
	levels  int       // number of categories, each with its own effect
	word    string    // prefix of a category name, followed by a number
	first   int       // number of the first category
	choice  []float64 // the value is one of these numbers
	log, sd float64   // the value is log-normal
	place   bool      // a city with its county, lat and lon, which affect the truth
	copies  int       // the value is this column, counted from the first, times a factor
	times   float64
}

const (
	rank      = 4
	sideShare = 0.7 // share of the variance of a factor that its driving columns explain
)

// entities holds the ids of a mode: their contribution to the field, their sizes
// and their side information.
type entities struct {
	factor  [][rank]float64
	effect  []float64           // standard deviation 1
	known   [][rank + 1]float64 // what the side information says about effect and factor
	unknown float64             // variance of the rest
	size    []float64
	header  []string
	fields  [][]string // by column
	latent  [][]float64
}

// newEntities draws n ids.
func newEntities(seed uint64, mode string, n int, power float64, attributes []attribute, latent int) *entities {
	e := &entities{factor: make([][rank]float64, n), size: powerLaw(randstream.New(seed, "synthetic size", hashOf(mode)), n, power)}
	r := randstream.New(seed, "synthetic side", hashOf(mode))
	// parts[k] is the contribution of the columns to factor k; the last is the effect.
	parts := make([][]float64, rank+1)
	for k := range parts {
		parts[k] = make([]float64, n)
	}
	e.known = make([][rank + 1]float64, n)
	informative := latent > 0
	for _, a := range attributes {
		e.describe(r, a, n, parts)
		informative = informative || a.drives || a.place
	}
	e.drawLatent(r, n, latent, parts)
	size := standardLog(e.size, 1)
	for k := range parts {
		own := draw(r, n, 1)
		if k == rank {
			for i := range own { // large ids sell more of each item
				own[i] = 0.6*own[i] + 0.8*size[i]
			}
		}
		share := sideShare
		if !informative {
			share = 0
		}
		e.unknown = 1 - share
		standardise(parts[k])
		standardise(own)
		for i := range own {
			e.known[i][(k+1)%(rank+1)] = math.Sqrt(share) * parts[k][i]
			own[i] = math.Sqrt(share)*parts[k][i] + math.Sqrt(1-share)*own[i]
		}
		standardise(own)
		if k == rank {
			e.effect = own
			continue
		}
		for i, v := range own {
			e.factor[i][k] = v
		}
	}
	return e
}

func hashOf(mode string) uint64 { return randstream.New(0, mode).Uint64() }

// describe draws a column and adds its contribution to the parts.
func (e *entities) describe(r *rand.Rand, a attribute, n int, parts [][]float64) {
	text, x := make([]string, n), make([]float64, n)
	switch {
	case a.place:
		e.places(r, n, parts)
		return
	case a.copies > 0:
		for i := range text {
			v, err := strconv.ParseFloat(e.fields[a.copies][i], 64)
			if err != nil {
				panic(fmt.Sprintf("synthetic: column %s copies a column without numbers", a.name))
			}
			text[i] = strconv.FormatFloat(v*a.times, 'f', 2, 64)
		}
	case a.levels > 0:
		e.levels(r, a, text, parts)
	case a.choice != nil:
		for i := range text {
			v := a.choice[r.IntN(len(a.choice))]
			text[i], x[i] = strconv.FormatFloat(v, 'f', -1, 64), math.Log(v)
		}
	default:
		for i := range text {
			x[i] = r.NormFloat64()
			text[i] = strconv.FormatFloat(math.Exp(a.log+a.sd*x[i]), 'f', 2, 64)
		}
	}
	if a.drives && a.levels == 0 {
		standardise(x)
		for _, part := range parts {
			wave(r, part, x)
		}
	}
	e.header, e.fields = append(e.header, a.name), append(e.fields, text)
}

func (e *entities) levels(r *rand.Rand, a attribute, text []string, parts [][]float64) {
	effect := make([][]float64, len(parts))
	for k := range effect {
		effect[k] = draw(r, a.levels, 1)
	}
	for i := range text {
		level := r.IntN(a.levels)
		text[i] = a.word + strconv.Itoa(a.first+level)
		for k := range parts {
			if a.drives {
				parts[k][i] += effect[k][level]
			}
		}
	}
}

// wave adds a smooth function of x with a large linear part.
func wave(r *rand.Rand, part, x []float64) {
	slope, bend, phase := r.NormFloat64(), r.NormFloat64(), 2*math.Pi*r.Float64()
	for i, v := range x {
		part[i] += slope*v + bend*math.Cos(1.5*v+phase)
	}
}

// places assigns ids to cities, several per county, in a rectangle around Iowa.
func (e *entities) places(r *rand.Rand, n int, parts [][]float64) {
	type city struct{ lat, lon float64 }
	cities := make([]city, max(4, n/5))
	for c := range cities {
		cities[c] = city{40.6 + 2.9*r.Float64(), -96.6 + 6.4*r.Float64()}
	}
	text := make([][]string, 4)
	lat, lon := make([]float64, n), make([]float64, n)
	for i := range n {
		c := r.IntN(len(cities))
		lat[i], lon[i] = cities[c].lat+0.03*r.NormFloat64(), cities[c].lon+0.03*r.NormFloat64()
		// A county is a cell of a grid of about a hundred.
		county := int((cities[c].lat-40.6)/0.35)*12 + int((cities[c].lon+96.6)/0.54)
		for k, v := range []string{fmt.Sprintf("City %d", c+1), fmt.Sprintf("County %d", county+1), strconv.FormatFloat(lat[i], 'f', 6, 64), strconv.FormatFloat(lon[i], 'f', 6, 64)} {
			text[k] = append(text[k], v)
		}
	}
	standardise(lat)
	standardise(lon)
	for _, part := range parts {
		wave(r, part, lat)
		wave(r, part, lon)
	}
	e.header, e.fields = append(e.header, "city", "county", "lat", "lon"), append(e.fields, text...)
}

// drawLatent draws the latent variables of the tags.
func (e *entities) drawLatent(r *rand.Rand, n, latent int, parts [][]float64) {
	e.latent = make([][]float64, n)
	for i := range e.latent {
		e.latent[i] = draw(r, latent, 1)
	}
	for _, part := range parts {
		weights := draw(r, latent, 1)
		for i, z := range e.latent {
			for k, w := range weights {
				part[i] += w * z[k]
			}
		}
	}
}

// standardise shifts and scales values to mean 0 and standard deviation 1.
func standardise(values []float64) {
	n := float64(len(values))
	mean, square := sum(values)/n, 0.0
	for _, v := range values {
		square += (v - mean) * (v - mean) / n
	}
	if square == 0 {
		square = 1
	}
	for i := range values {
		values[i] = (values[i] - mean) / math.Sqrt(square)
	}
}
