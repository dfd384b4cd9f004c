package explain

import (
	"math/bits"
	"strings"

	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// A source is 2 mode for the own weights of the id of a mode, and 2 mode + 1 for its side
// information.
func ownOf(mode int) int  { return 2 * mode }
func sideOf(mode int) int { return 2*mode + 1 }

// groupsOf returns the terms of each group of a field: products of terms.
func groupsOf(f *tt.Field) [][]int {
	var groups [][]int
	for k := range f.Terms {
		g := append([]int{k}, f.Partners(k)...)
		if len(g) == 1 || g[1] > k {
			groups = append(groups, g)
		}
	}
	return groups
}

// A game is the value of a term, or of a product of terms, at one cell as a function of
// the set of sources that are those of the cell.
type game struct {
	name    string
	trains  [][]coreParts
	sources []int // in increasing order; player k is sources[k]
}

// coreParts are the slices of one core: those of the cell and those of the average.
type coreParts struct {
	left, right          int
	variant              tt.Variant
	free, freeMean       []float64 // V'; nil if the core has none
	side, sideMean       []float64 // T; nil if the core has none
	freePlays, sidePlays uint64    // players without which the average takes the place
}

// An override replaces the side information of the id of a mode.
type override struct {
	row    []float32        // of the operator; nil for the present one
	groups map[string]int32 // level by column of groups
}

// game returns the game of a group of terms at a cell.
func (x *Explainer) game(m *model.Model, group []int, codes [][]int32, changed map[int]override) *game {
	g := &game{}
	var names []string
	uses := map[int]bool{}
	sets := map[*coreParts][2][]int{}
	for _, k := range group {
		t := m.Field().Terms[k]
		names = append(names, t.Name())
		train := make([]coreParts, len(t.Cores))
		for p, c := range t.Cores {
			free, side := sourcesOf(m, c)
			train[p] = x.parts(m, c, x.regressions[k][p], codes, changed)
			var needs [2][]int
			if train[p].free != nil {
				needs[0] = free
			}
			if train[p].side != nil {
				needs[1] = side
			}
			for _, s := range append(append([]int(nil), needs[0]...), needs[1]...) {
				uses[s] = true
			}
			sets[&train[p]] = needs
		}
		g.trains = append(g.trains, train)
	}
	g.name = strings.Join(names, " x ")
	player := map[int]int{}
	for s := range 2 * len(codes) {
		if uses[s] {
			player[s] = len(g.sources)
			g.sources = append(g.sources, s)
		}
	}
	for parts, needs := range sets {
		for _, s := range needs[0] {
			parts.freePlays |= 1 << player[s]
		}
		for _, s := range needs[1] {
			parts.sidePlays |= 1 << player[s]
		}
	}
	return g
}

// sourcesOf returns the sources that the free weights and the regression of a core
// belong to.
func sourcesOf(m *model.Model, c *tt.Core) (free, side []int) {
	for _, a := range c.Index.Axes() {
		switch {
		case a.Group != nil && c.Along == nil:
			free, side = append(free, sideOf(a.Mode)), append(side, sideOf(a.Mode))
		case m.SideOf(a.Mode) != nil:
			free, side = append(free, ownOf(a.Mode)), append(side, sideOf(a.Mode))
		default:
			free, side = append(free, ownOf(a.Mode)), append(side, ownOf(a.Mode))
		}
	}
	return free, side
}

// parts returns the slices of a core at a cell. regression is the average of T.
func (x *Explainer) parts(m *model.Model, c *tt.Core, regression []float64, codes [][]int32, changed map[int]override) coreParts {
	size := c.Slices.Slice()
	out := coreParts{left: c.Slices.Left, right: c.Slices.Right, variant: c.Variant}
	entity := make([]int32, 1)
	at := withGroups(m, c, codes, changed)
	c.Index.Lookup(entity, at)
	e := int(entity[0])
	if c.Free != nil {
		last := len(c.Free)/size - 1
		out.freeMean = float64s(c.Free[last*size:][:size])
		out.free = out.freeMean
		if e < last {
			out.free = float64s(c.Free[e*size:][:size])
		}
	}
	if c.Map != nil {
		out.sideMean = regression
		out.side = regression
		if rows := operatorRows(m, c, at, changed); rows != nil {
			out.side = contract(c, rows)
		}
	}
	return out
}

// withGroups returns the codes with which a core finds the changed groups of an id: that
// of another id of the same group.
func withGroups(m *model.Model, c *tt.Core, codes [][]int32, changed map[int]override) [][]int32 {
	out := codes
	for i, a := range c.Index.Axes() {
		_, column := spec.CutGroup(c.Modes[i], m.Spec().ModeNames())
		level, has := changed[a.Mode].groups[column]
		if a.Group == nil || !has {
			continue
		}
		out = append([][]int32(nil), out...)
		out[a.Mode] = []int32{entity.Unknown}
		for code, group := range a.Group {
			if group == level {
				out[a.Mode] = []int32{int32(code)}
				break
			}
		}
	}
	return out
}

// operatorRows returns the operator rows of the ids of a cell, one per mode of the core,
// with nil for a mode without an operator, whose code takes its place. It returns nil if
// an id is unknown.
func operatorRows(m *model.Model, c *tt.Core, codes [][]int32, changed map[int]override) []operatorRow {
	var rows []operatorRow
	for _, a := range c.Index.Axes() {
		code := codes[a.Mode][0]
		side := m.SideOf(a.Mode)
		switch {
		case a.Group != nil:
			if code = entity.CodeOf(code); code >= 0 {
				code = a.Group[code]
			}
			rows = append(rows, operatorRow{code: code, columns: a.Size})
		case side == nil:
			rows = append(rows, operatorRow{code: code, columns: a.Size})
		case changed[a.Mode].row != nil:
			rows = append(rows, operatorRow{values: changed[a.Mode].row, columns: side.Operator.Columns()})
			continue
		default:
			columns := side.Operator.Columns()
			if code >= 0 {
				rows = append(rows, operatorRow{values: side.Operator.Matrix()[int(code)*columns:][:columns], columns: columns})
			}
		}
		if code < 0 {
			return nil
		}
	}
	return rows
}

// An operatorRow is a row of the operator of a mode; with nil values it is the unit vector
// of a code.
type operatorRow struct {
	values  []float32
	code    int32
	columns int
}

// contract returns T = A W at one entity, given the rows of its operators. O(weights).
func contract(c *tt.Core, rows []operatorRow) []float64 {
	in := float64s(c.Weight)
	for _, r := range rows {
		rest := len(in) / r.columns
		if r.values == nil {
			in = in[int(r.code)*rest:][:rest]
			continue
		}
		out := make([]float64, rest)
		for a, v := range r.values {
			for k, w := range in[a*rest:][:rest] {
				out[k] += float64(v) * w
			}
		}
		in = out
	}
	return in
}

// averageRegression returns the average of T that the model has for an unseen entity, nil
// for a core without a regression. It follows from the last slice, that of the average:
// G = T, V' + T or V' o T.
func (x *Explainer) averageRegression(c *tt.Core) []float64 {
	if c.Map == nil {
		return nil
	}
	size := c.Slices.Slice()
	mean := float64s(c.Slices.Mean[(c.Slices.N-1)*size:][:size])
	if c.Variant == tt.Side {
		return mean
	}
	for k, v := range c.Free[len(c.Free)-size:] { // without slices of ids of side tables
		switch {
		case c.Variant == tt.Additive:
			mean[k] -= float64(v)
		case v != 0:
			mean[k] /= float64(v)
		}
	}
	return mean
}

func float64s(values []float32) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

// slice returns the slice of the core for a set of players.
func (c *coreParts) slice(set uint64, dst []float64) []float64 {
	free, side := c.freeMean, c.sideMean
	if set&c.freePlays == c.freePlays {
		free = c.free
	}
	if set&c.sidePlays == c.sidePlays {
		side = c.side
	}
	switch c.variant {
	case tt.Side:
		return side
	case tt.WLR, tt.Additive:
		for k, v := range free {
			if c.variant == tt.WLR {
				dst[k] = v * side[k]
			} else {
				dst[k] = v + side[k]
			}
		}
		return dst[:len(free)]
	}
	return free
}

// value returns the value of the term for a set of players.
func (g *game) value(set uint64) float64 {
	product := 1.0
	var scratch []float64
	for _, train := range g.trains {
		u := []float64{1}
		for p := range train {
			c := &train[p]
			if need := c.left * c.right; len(scratch) < need {
				scratch = make([]float64, need)
			}
			u = multiply(u, c.slice(set, scratch), c.right)
		}
		product *= u[0]
	}
	return product
}

// multiply returns the row vector u times a row-major matrix with that many columns.
func multiply(u, matrix []float64, columns int) []float64 {
	out := make([]float64, columns)
	for i, v := range u {
		for j, w := range matrix[i*columns:][:columns] {
			out[j] += v * w
		}
	}
	return out
}

// all returns the value of the term at the cell.
func (g *game) all() float64 { return g.value(1<<len(g.sources) - 1) }

// shapley returns the value of the empty set and the Shapley value of each player. They
// sum to the value of the whole set.
func (g *game) shapley() (average float64, parts []float64) {
	n := len(g.sources)
	values := make([]float64, 1<<n)
	for set := range values {
		values[set] = g.value(uint64(set))
	}
	// The weight of a set of s players without the player is s! (n-1-s)! / n!.
	weight := make([]float64, n)
	for s := range weight {
		weight[s] = 1 / float64(n)
		for i := 1; i <= s; i++ {
			weight[s] *= float64(i) / float64(n-i)
		}
	}
	parts = make([]float64, n)
	for set, v := range values {
		for k := range parts {
			if set>>k&1 == 1 {
				parts[k] += weight[bits.OnesCount(uint(set))-1] * (v - values[set&^(1<<k)])
			}
		}
	}
	return values[0], parts
}
