package explain

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
)

// What neighbours are near by.
const (
	ByFactors = "learned factors"
	BySide    = "side information"
)

// A Neighbourhood lists the ids of a mode that are nearest to the id of a cell.
type Neighbourhood struct {
	Mode    string          `json:"mode"`
	ID      string          `json:"id"`
	By      string          `json:"by"`             // ByFactors or BySide
	Rows    int             `json:"rows"`           // training rows of the id itself
	Mean    *metrics.Number `json:"mean,omitempty"` // of the target in them
	Nearest []Neighbour     `json:"nearest"`

	Side map[string]string `json:"side,omitempty"` // first values of the side row of the id
}

// A Neighbour is an id with its distance and its training rows. By learned factors the
// distance is the typical difference between the levels of two cells that differ in this
// id alone; by side information it is the distance of operator rows, in which a column
// varies by about 1.
type Neighbour struct {
	ID       string          `json:"id"`
	Distance float64         `json:"distance"`
	Rows     int             `json:"rows"`           // training rows
	Mean     *metrics.Number `json:"mean,omitempty"` // of the target in the training rows

	// Side has the first values of its side row, at most five.
	Side map[string]string `json:"side,omitempty"`
	// Value is that of the table at the cell with this id in place of its own, if the table
	// is given and has one.
	Value *metrics.Number `json:"value,omitempty"`
}

// proximity holds what the distances of the ids of a mode share.
type proximity struct {
	once  sync.Once
	cores []nearCore
}

// A nearCore is a core over the ids of one mode. The level of a cell is linear in its
// slice G, with coefficients that depend on the other ids of the cell: level = l G r. The
// mean square of a difference D of slices over cells is tr(D' L D R) with the second
// moments L of l and R of r.
type nearCore struct {
	term, core  int
	left, right []float64 // L, R
	norm        []float64 // tr(G' L G R) by entity
}

// neighbours returns the nearest ids of each id of a cell.
func (x *Explainer) neighbours(m *model.Model, cell model.Cell, codes [][]int32, count int) []Neighbourhood {
	var out []Neighbourhood
	for mode, info := range m.Modes() {
		if info.Covariate() || info.Target() {
			continue // the nearest values are the nearest numbers; a target has no neighbours
		}
		code := codes[mode][0]
		for _, by := range []string{ByFactors, BySide} {
			var distances []float64
			if by == ByFactors {
				distances = x.factorDistances(m, mode, codes)
			} else {
				distances = sideDistances(m, mode, code)
			}
			if distances == nil {
				continue
			}
			id := cell[info.Name]
			nearest := x.nearest(mode, id, distances, count)
			if len(nearest) == 0 {
				continue
			}
			own := x.neighbour(mode, code, id, 0)
			out = append(out, Neighbourhood{Mode: info.Name, ID: id, By: by, Rows: own.Rows, Mean: own.Mean, Side: own.Side, Nearest: nearest})
		}
	}
	return out
}

// nearest returns the ids with training rows that have the smallest distances, which are
// by code. The id itself is left out.
func (x *Explainer) nearest(mode int, id string, distances []float64, count int) []Neighbour {
	ids := x.m.Dicts()[mode]
	var codes []int32
	for code, d := range distances {
		if !math.IsNaN(d) && x.m.TrainingRows(mode, int32(code)) > 0 && ids.ID(int32(code)) != id {
			codes = append(codes, int32(code))
		}
	}
	slices.SortFunc(codes, func(a, b int32) int { return cmp.Or(cmp.Compare(distances[a], distances[b]), cmp.Compare(a, b)) })
	var out []Neighbour
	for _, code := range codes[:min(count, len(codes))] {
		out = append(out, x.neighbour(mode, code, ids.ID(code), distances[code]))
	}
	return out
}

func (x *Explainer) neighbour(mode int, code int32, id string, distance float64) Neighbour {
	n := Neighbour{ID: id, Distance: distance, Rows: x.m.TrainingRows(mode, code)}
	if mean, known := x.m.Observed(mode, code); known {
		n.Mean = (*metrics.Number)(&mean)
	}
	if side := x.m.SideOf(mode); side != nil && x.m.Spec().Side.PlaceboOf(x.m.Modes()[mode].Name) == "" && !side.Encoder.Spec().FromIDs() {
		const most = 5
		for _, c := range side.Table.All()[:min(most, len(side.Table.All()))] {
			if text := c.Value(code); text != "" {
				if n.Side == nil {
					n.Side = map[string]string{}
				}
				n.Side[c.Name] = text
			}
		}
	}
	return n
}

// factorDistances returns the distance of each id of a mode, by code, from the id of a
// cell; NaN without weights of its own. It is nil if the id has none.
func (x *Explainer) factorDistances(m *model.Model, mode int, codes [][]int32) []float64 {
	near := &x.nearby[mode]
	near.once.Do(func() { near.cores = x.nearCores(mode) })
	var squares []float64
	for _, n := range near.cores {
		c := m.Field().Terms[n.term].Cores[n.core]
		entity := make([]int32, 1)
		c.Index.Lookup(entity, codes)
		if entity[0] == c.Index.Prior() {
			return nil
		}
		size := c.Slices.Slice()
		own := float64s(c.Slices.Mean[int(entity[0])*size:][:size])
		weighted := sandwich(n.left, own, n.right, c.Slices.Left, c.Slices.Right)
		norm := dot(own, weighted)
		if squares == nil {
			squares = slices.Repeat([]float64{math.NaN()}, len(x.m.Dicts()[mode].IDs()))
		}
		base := x.m.Field().Terms[n.term].Cores[n.core]
		for e, code := range base.Index.Combinations()[:base.TrainedEntities()] {
			cross := 0.0
			for k, v := range base.Slices.Mean[e*size:][:size] {
				cross += float64(v) * weighted[k]
			}
			if math.IsNaN(squares[code]) {
				squares[code] = 0
			}
			squares[code] += max(0, norm+n.norm[e]-2*cross)
		}
	}
	for i, s := range squares {
		squares[i] = x.m.Scale().Spread * math.Sqrt(s)
	}
	return squares
}

// nearCores returns the cores over the ids of a mode alone, with their moments.
func (x *Explainer) nearCores(mode int) []nearCore {
	var out []nearCore
	f := x.m.Field()
	for k, t := range f.Terms {
		partners := 1.0 // mean square of the other factors of a product
		for _, j := range f.Partners(k) {
			partners *= x.secondMoments(f.Terms[j].Cores, false)[0]
		}
		for p, c := range t.Cores {
			axes := c.Index.Axes()
			if len(axes) > 1 || axes[0].Group != nil || axes[0].Mode != mode {
				continue
			}
			n := nearCore{term: k, core: p, left: x.secondMoments(t.Cores[:p], false), right: x.secondMoments(t.Cores[p+1:], true)}
			for i := range n.left {
				n.left[i] *= partners
			}
			size := c.Slices.Slice()
			for e := range c.TrainedEntities() {
				g := float64s(c.Slices.Mean[e*size:][:size])
				n.norm = append(n.norm, dot(g, sandwich(n.left, g, n.right, c.Slices.Left, c.Slices.Right)))
			}
			out = append(out, n)
		}
	}
	return out
}

// maxMomentEntities bounds the entities of a core that its second moments are taken from.
const maxMomentEntities = 20_000

// secondMoments returns E[u u'] of the product u of some cores at a random cell whose ids
// are independent, with the frequencies of the training rows: of the first cores of a
// train, a row vector, or from its end a column vector.
func (x *Explainer) secondMoments(cores []*tt.Core, fromEnd bool) []float64 {
	moments := []float64{1}
	for i := range cores {
		c := cores[i]
		if fromEnd {
			c = cores[len(cores)-1-i]
		}
		rows, columns, size := c.Slices.Left, c.Slices.Right, c.Slices.Slice()
		width := columns
		if fromEnd {
			width = rows
		}
		next, total := make([]float64, width*width), 0.0
		n := c.TrainedEntities()
		step := (n + maxMomentEntities - 1) / maxMomentEntities
		for e := 0; e < n; e += max(step, 1) {
			weight := 1.0
			if axes := c.Index.Axes(); len(axes) == 1 && axes[0].Group == nil {
				weight = float64(x.m.TrainingRows(axes[0].Mode, c.Index.Combinations()[e]))
			}
			total += weight
			g, r := float64s(c.Slices.Mean[e*size:][:size]), rows
			if !fromEnd {
				g, r = transpose(g, rows, columns), columns
			}
			for k, v := range conjugate(g, moments, r) {
				next[k] += weight * v
			}
		}
		for k := range next {
			next[k] /= max(total, 1)
		}
		moments = next
	}
	return moments
}

// conjugate returns G M G' for a matrix G of that many rows.
func conjugate(g, m []float64, rows int) []float64 {
	columns := len(g) / rows
	gm := make([]float64, len(g))
	for i := range rows {
		copy(gm[i*columns:], multiply(g[i*columns:][:columns], m, columns))
	}
	out := make([]float64, rows*rows)
	for i := range rows {
		for j := range rows {
			out[i*rows+j] = dot(gm[i*columns:][:columns], g[j*columns:][:columns])
		}
	}
	return out
}

// sandwich returns L G R for symmetric L and R.
func sandwich(l, g, r []float64, rows, columns int) []float64 {
	gr := make([]float64, len(g))
	for i := range rows {
		copy(gr[i*columns:], multiply(g[i*columns:][:columns], r, columns))
	}
	out := make([]float64, len(g))
	for i := range rows {
		copy(out[i*columns:], multiply(l[i*rows:][:rows], gr, columns))
	}
	return out
}

func transpose(g []float64, rows, columns int) []float64 {
	out := make([]float64, len(g))
	for i := range rows {
		for j := range columns {
			out[j*rows+i] = g[i*columns+j]
		}
	}
	return out
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// sideDistances returns the distances of operator rows from that of a code, NaN for ids
// without a side row. It is nil if the model does not use side information of the mode, or
// the id has no side row.
func sideDistances(m *model.Model, mode int, code int32) []float64 {
	side := m.SideOf(mode)
	if side == nil || !m.Informed(mode) || code < 0 || !side.Has[code] {
		return nil
	}
	matrix, columns := side.Operator.Matrix(), side.Operator.Columns()
	own := matrix[int(code)*columns:][:columns]
	out := make([]float64, len(side.Has))
	for i, has := range side.Has {
		if !has {
			out[i] = math.NaN()
			continue
		}
		square := 0.0
		for k, v := range matrix[i*columns:][:columns] {
			d := float64(v - own[k])
			square += d * d
		}
		out[i] = math.Sqrt(square)
	}
	return out
}
