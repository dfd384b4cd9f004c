package synthetic

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
)

// A LedgerTable is a small table of a certain kind, generated from a known truth, on
// which default choices can be measured.
type LedgerTable struct {
	Name   string
	Kind   string   // what is special about it
	Modes  []string // names of the columns with ids
	Target string

	sizes []int   // ids per mode
	share float64 // of the cells that occur
	digit int     // decimals of the target
	draw  func(g *ledgerDraw) func(ids []int) float64
}

// ledgerDraw draws the truth and the noise of a table.
type ledgerDraw struct {
	*rand.Rand
	sizes []int
}

// LedgerTables returns the tables of the ledger.
func LedgerTables() []LedgerTable {
	return []LedgerTable{
		{"few-rows", "180 rows, a line per subject", []string{"subject", "day"}, "reaction", []int{18, 10}, 1, 1, lines},
		{"small", "two modes, 600 rows", []string{"region", "product"}, "share", []int{40, 25}, 0.6, 3, interaction(1, 0.5, 0.6)},
		{"short-series", "few long histories", []string{"firm", "year"}, "investment", []int{10, 40}, 1, 2, growth},
		{"noise", "no structure at all", []string{"group", "wave"}, "score", []int{60, 50}, 0.8, 2, interaction(0, 0, 1)},
		{"dense", "every cell occurs, low noise", []string{"plant", "product", "month"}, "output", []int{20, 25, 24}, 1, 3, interaction(3, 0.3, 0.25)},
		{"two-modes", "interactions of rank 3", []string{"user", "task"}, "result", []int{160, 110}, 0.6, 3, interaction(3, 0.5, 0.7)},
		{"five-modes", "effects of modes and of two pairs", []string{"shop", "brand", "channel", "size", "month"}, "margin", []int{25, 20, 4, 5, 12}, 0.09, 3, fiveModes},
		{"hourly", "a daily curve per sensor, and the weather of each day", []string{"sensor", "day", "hour"}, "load", []int{12, 60, 24}, 0.65, 2, hourly},
		{"weekly", "sales per department, with a season", []string{"store", "dept", "week"}, "sales", []int{12, 20, 52}, 0.9, 2, weekly},
		{"ratings", "half stars, many users with few ratings", []string{"user", "film"}, "rating", []int{600, 300}, 0.065, 1, ratings},
		{"counts", "counts with a mean of about 2", []string{"shop", "article", "week"}, "units", []int{30, 60, 26}, 0.25, 0, counts},
		{"both-signs", "gains and losses whose spread differs by desk", []string{"desk", "product", "day"}, "profit", []int{20, 30, 50}, 0.38, 2, bothSigns},
		{"heavy-tails", "a few values are hundreds of times the median", []string{"client", "service", "month"}, "amount", []int{60, 20, 24}, 0.4, 2, heavyTails},
		{"outliers", "Student noise with 2.5 degrees of freedom", []string{"station", "probe", "day"}, "reading", []int{20, 15, 60}, 0.65, 3, outliers},
	}
}

// Rows calls row with the ids and the target of each row, in the order of the cells.
func (t LedgerTable) Rows(seed uint64, row func(ids []string, y string)) {
	h := fnv.New64a()
	h.Write([]byte(t.Name))
	g := &ledgerDraw{rand.New(rand.NewPCG(seed, h.Sum64())), t.sizes}
	value := t.draw(g)
	ids, names := make([]int, len(t.sizes)), make([]string, len(t.sizes))
	for {
		if g.Float64() < t.share {
			for m, id := range ids {
				names[m] = t.Modes[m] + strconv.Itoa(id+1)
			}
			row(names, strconv.FormatFloat(value(ids), 'f', t.digit, 64))
		}
		m := len(ids) - 1
		for ; m >= 0; m-- {
			if ids[m]++; ids[m] < t.sizes[m] {
				break
			}
			ids[m] = 0
		}
		if m < 0 {
			return
		}
	}
}

// effect returns a normal effect per combination of ids of some modes.
func (g *ledgerDraw) effect(sd float64, modes ...int) func(ids []int) float64 {
	n := 1
	for _, m := range modes {
		n *= g.sizes[m]
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = sd * g.NormFloat64()
	}
	return func(ids []int) float64 {
		at := 0
		for _, m := range modes {
			at = at*g.sizes[m] + ids[m]
		}
		return values[at]
	}
}

// lowRank returns a sum of products of effects, with standard deviation 1.
func (g *ledgerDraw) lowRank(rank int) func(ids []int) float64 {
	var factors [][]func([]int) float64
	for range rank {
		var one []func([]int) float64
		for m := range g.sizes {
			one = append(one, g.effect(1, m))
		}
		factors = append(factors, one)
	}
	return func(ids []int) float64 {
		sum := 0.0
		for _, one := range factors {
			product := 1 / math.Sqrt(float64(rank))
			for _, f := range one {
				product *= f(ids)
			}
			sum += product
		}
		return sum
	}
}

// student draws from a Student distribution.
func (g *ledgerDraw) student(freedom float64) float64 {
	return g.NormFloat64() / math.Sqrt(g.gamma(freedom/2)*2/freedom)
}

// gamma draws from a gamma distribution with scale 1 (Marsaglia and Tsang).
func (g *ledgerDraw) gamma(shape float64) float64 {
	if shape < 1 {
		return g.gamma(shape+1) * math.Pow(g.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	for {
		x := g.NormFloat64()
		v := math.Pow(1+x/math.Sqrt(9*d), 3)
		if v > 0 && math.Log(g.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// poisson draws a count with a mean of at most a few hundred.
func (g *ledgerDraw) poisson(mean float64) float64 {
	limit, product, n := math.Exp(-mean), g.Float64(), 0.0
	for product > limit {
		product *= g.Float64()
		n++
	}
	return n
}

// interaction is a low-rank interaction plus main effects plus noise.
func interaction(rank int, main, noise float64) func(g *ledgerDraw) func([]int) float64 {
	return func(g *ledgerDraw) func([]int) float64 {
		var effects []func([]int) float64
		for m := range g.sizes {
			effects = append(effects, g.effect(main, m))
		}
		if rank > 0 {
			effects = append(effects, g.lowRank(rank))
		}
		return func(ids []int) float64 {
			y := 5 + noise*g.NormFloat64()
			for _, e := range effects {
				y += e(ids)
			}
			return y
		}
	}
}

// lines has a level and a slope per subject.
func lines(g *ledgerDraw) func([]int) float64 {
	level, slope := g.effect(25, 0), g.effect(6, 0)
	return func(ids []int) float64 {
		return 250 + level(ids) + (10+slope(ids))*float64(ids[1]) + 25*g.NormFloat64()
	}
}

// growth has firms of very different sizes that grow.
func growth(g *ledgerDraw) func([]int) float64 {
	size, shock, rate := g.effect(1.2, 0), g.effect(0.15, 1), g.effect(0.02, 0)
	return func(ids []int) float64 {
		return math.Exp(4 + size(ids) + shock(ids) + (0.03+rate(ids))*float64(ids[1]) + 0.25*g.NormFloat64())
	}
}

func fiveModes(g *ledgerDraw) func([]int) float64 {
	effects := []func([]int) float64{g.effect(0.7, 0), g.effect(0.5, 1), g.effect(0.3, 2), g.effect(0.2, 3), g.effect(0.3, 4), g.effect(0.5, 0, 1), g.effect(0.3, 1, 4)}
	return func(ids []int) float64 {
		y := 10 + 0.8*g.NormFloat64()
		for _, e := range effects {
			y += e(ids)
		}
		return y
	}
}

func hourly(g *ledgerDraw) func([]int) float64 {
	level, height, phase, weather := g.effect(8, 0), g.effect(0.3, 0), g.effect(1.5, 0), g.effect(4, 1)
	exposure := g.effect(0.5, 0)
	return func(ids []int) float64 {
		curve := math.Sin(2 * math.Pi * (float64(ids[2]) + phase(ids)) / 24)
		weekend := 0.0
		if ids[1]%7 >= 5 {
			weekend = -6
		}
		return 50 + level(ids) + 10*(1+height(ids))*curve + (1+exposure(ids))*(weather(ids)+weekend) + 2.5*g.NormFloat64()
	}
}

func weekly(g *ledgerDraw) func([]int) float64 {
	store, dept, pair, season, shock := g.effect(0.5, 0), g.effect(1.2, 1), g.effect(0.4, 0, 1), g.effect(0.4, 1), g.effect(0.1, 2)
	phase := g.effect(1, 1)
	return func(ids []int) float64 {
		wave := season(ids) * math.Cos(2*math.Pi*float64(ids[2])/52+phase(ids))
		return math.Exp(7 + store(ids) + dept(ids) + pair(ids) + wave + shock(ids) + 0.18*g.NormFloat64())
	}
}

func ratings(g *ledgerDraw) func([]int) float64 {
	user, film, taste := g.effect(0.4, 0), g.effect(0.5, 1), g.lowRank(2)
	return func(ids []int) float64 {
		y := 3.5 + user(ids) + film(ids) + 0.3*taste(ids) + 0.75*g.NormFloat64()
		return min(max(math.Round(2*y)/2, 0.5), 5)
	}
}

func counts(g *ledgerDraw) func([]int) float64 {
	shop, article, week, pair := g.effect(0.5, 0), g.effect(0.9, 1), g.effect(0.2, 2), g.effect(0.4, 0, 1)
	return func(ids []int) float64 {
		rate := math.Exp(0.1 + shop(ids) + article(ids) + week(ids) + pair(ids))
		return g.poisson(min(rate*g.gamma(3)/3, 300))
	}
}

func bothSigns(g *ledgerDraw) func([]int) float64 {
	spread, desk, pair, day := g.effect(0.8, 0), g.effect(8, 0), g.effect(6, 0, 1), g.effect(5, 2)
	return func(ids []int) float64 {
		return 3 + desk(ids) + pair(ids) + day(ids) + 12*math.Exp(spread(ids))*g.NormFloat64()
	}
}

func heavyTails(g *ledgerDraw) func([]int) float64 {
	client, service, pair := g.effect(1.2, 0), g.effect(0.8, 1), g.effect(0.7, 0, 1)
	return func(ids []int) float64 {
		return math.Exp(3 + client(ids) + service(ids) + pair(ids) + 0.9*g.NormFloat64())
	}
}

func outliers(g *ledgerDraw) func([]int) float64 {
	station, pair, day := g.effect(1, 0), g.effect(0.8, 0, 1), g.effect(0.7, 2)
	return func(ids []int) float64 {
		return station(ids) + pair(ids) + day(ids) + 0.5*g.student(2.5)
	}
}
