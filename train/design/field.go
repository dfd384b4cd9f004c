// Package design turns the terms of a specification into a field: it builds the cores with
// their indices, operators and priors, and refuses fields that do not fit into memory.
package design

import (
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/timeline"
	"github.com/kernel-fried-tensor/kft/history"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// Data is what Field needs to know of the rows.
type Data struct {
	Modes []string
	Table []dataset.Mode // the same
	Sizes []int          // number of ids, by mode
	Train [][]int32      // codes of the training rows, by mode; those of the first rows of ids suffice for cores of one mode
	Cells int            // number of training rows; 0 if Train has all
	Rows  [][]int32      // number of training rows, by mode and code; nil if it is not known
	Other [][]int32      // codes of the other rows, by mode

	Groups []*sideinfo.Groups // by mode, nil without groups; nil if there are none

	Threads int // 0 is 1

	Line func(mode int) (*timeline.Timeline, error) // the steps of a mode of time

	// What the memory of a fit depends on, and a function that returns the memory in
	// bytes that is available; nil checks nothing.
	Family tt.Family
	Adam   bool
	Room   func() int64
	Paged  bool // plans are not in memory
}

// cells returns the number of training rows.
func (d *Data) cells() int {
	if d.Cells > 0 {
		return d.Cells
	}
	return len(d.Train[0])
}

// Side is the side information of the modes.
type Side struct {
	Operators []regression.Operator // by mode, nil without side information
	Variant   string                // of terms that do not name their own
	Coupled   bool                  // wlr has one penalty for V' and W, as in dual space

	// Norms, by mode, write K x to dst, where both consist of rows of the given
	// width. They define the norms of regressions on one mode; see tt.Core. A nil norm
	// is |x|^2.
	Norms []func(dst, x []float32, width int)
}

// Field returns the field that terms describe, and notices of ranks that were
// capped. Weights are zero.
//
// A variant is an expression over cores: plain is V', side is A W, wlr is V' o A W and
// additive is V' + A W. Latent scaling (ls) is f_s f_r + f_b, the product of a plain and
// a side train plus a plain train. If no mode of a core has an operator, the core is
// plain in every variant. A core over a numeric covariate is A W in every variant, with
// the operators of its covariates alone: a curve per combination of its other ids.
func Field(terms []spec.Term, data Data, side Side) (*tt.Field, []string, error) {
	b := &builder{data: data, side: side, free: map[string]*entity.Index{}, informed: map[string]*entity.Index{}, rows: map[*entity.Index][]float32{}, field: &tt.Field{}}
	b.indexCores(terms)
	for _, term := range terms {
		if term.IsSeries() {
			if err := b.series(term); err != nil {
				return nil, nil, err
			}
			continue
		}
		variant := term.Variant
		if variant == "" {
			variant = side.Variant
		}
		if err := b.add(term, variant); err != nil {
			return nil, nil, err
		}
	}
	if len(slices.Compact(slices.Clone(b.groups))) != len(b.groups) {
		b.field.Group = b.groups
	}
	return b.field, b.notices, nil
}

// A builder collects the trains of a field.
type builder struct {
	data           Data
	side           Side
	free, informed map[string]*entity.Index // indices without and with side information, by the name of the core
	field          *tt.Field
	groups         []int // group of each train of the field; the field is the sum over groups of products
	next           int   // number of the next group
	notices        []string
	rows           map[*entity.Index][]float32 // see rowsOf
	need           memoryNeed                  // of the trains so far
}

// add appends the trains of one term.
func (b *builder) add(term spec.Term, variant string) error {
	group := b.next
	if variant != "ls" {
		b.next++
		return b.train(term, tt.Variant(variant), group)
	}
	b.next += 2
	scale, bias := term, term
	if term.ScaleRank > 0 {
		scale.Ranks = slices.Repeat([]int{term.ScaleRank}, len(term.Ranks))
		bias.Ranks = slices.Repeat([]int{term.BiasRank}, len(term.Ranks))
	}
	for _, part := range []struct {
		term    spec.Term
		variant tt.Variant
		group   int
	}{{scale, tt.Plain, group}, {term, tt.Side, group}, {bias, tt.Plain, group + 1}} {
		if err := b.train(part.term, part.variant, part.group); err != nil {
			return err
		}
	}
	b.field.Terms[len(b.field.Terms)-3].AnchorAtOne()
	return nil
}

// train appends one train.
func (b *builder) train(term spec.Term, variant tt.Variant, group int) error {
	index := make([]*entity.Index, len(term.Cores))
	trained := make([]int, len(term.Cores))
	for p, core := range term.Cores {
		var err error
		if term.IsAlong(core) {
			if index[p], trained[p], err = b.alongIndex(core); err != nil {
				return err
			}
			continue
		}
		if index[p], trained[p], err = b.index(core, b.variant(core, variant) != tt.Plain); err != nil {
			return err
		}
	}
	capped, notices := term.CapRanks(trained)
	for _, n := range notices { // the trains of latent scaling have the same notices
		if !slices.Contains(b.notices, n) {
			b.notices = append(b.notices, n)
		}
	}
	entities := make([]int, len(index))
	for p, x := range index {
		entities[p] = x.Entities()
	}
	if err := b.checkMemory(term, variant, entities, capped.Ranks); err != nil {
		return err
	}
	t := tt.NewTrain(term.Cores, index, capped.Ranks)
	for p, core := range term.Cores {
		t.Cores[p].Rows = b.rowsOf(core, index[p])
		used := b.variant(core, variant)
		if term.IsAlong(core) {
			if err := b.along(t.Cores[p], term); err != nil {
				return err
			}
			continue
		}
		if used == tt.Plain {
			continue
		}
		if err := b.regress(t.Cores[p], core, used, trained[p]); err != nil {
			return fmt.Errorf("term %s: %w", term, err)
		}
	}
	b.field.Terms = append(b.field.Terms, t)
	b.groups = append(b.groups, group)
	return nil
}

// rowsOf returns the number of training rows of each entity of a core. Combinations of
// several modes count alike: one without training rows is more like the rare ones.
func (b *builder) rowsOf(core []string, x *entity.Index) []float32 {
	if len(core) > 1 {
		return nil
	}
	if rows := b.rows[x]; rows != nil {
		return rows
	}
	counts := b.countByCode(x)
	if counts == nil {
		counts = b.countByRow(x)
	}
	rows := make([]float32, len(counts))
	for e, n := range counts {
		rows[e] = float32(n)
	}
	b.rows[x] = rows
	return rows
}

// countByRow returns the number of training rows of each entity of an index.
func (b *builder) countByRow(x *entity.Index) []int32 {
	n, counts := len(b.data.Train[0]), make([]int32, x.Entities())
	column := make([]int32, min(n, parallel.Block))
	for from := 0; from < n; from += len(column) {
		column = column[:min(len(column), n-from)]
		x.LookupFrom(column, b.data.Train, from)
		for _, e := range column {
			counts[e]++
		}
	}
	return counts
}

// countByCode is countByRow by the known numbers of rows of the codes of a mode, nil if these do not suffice.
func (b *builder) countByCode(x *entity.Index) []int32 {
	if len(x.Axes()) != 1 || b.data.Rows == nil {
		return nil
	}
	mode := x.Axes()[0].Mode
	codes, entity := make([][]int32, mode+1), make([]int32, len(b.data.Rows[mode]))
	for c := range entity {
		codes[mode] = append(codes[mode], int32(c))
	}
	x.LookupFrom(entity, codes, 0)
	counts, rest := make([]int32, x.Entities()), b.data.cells()
	for c, n := range b.data.Rows[mode] {
		counts[entity[c]] += n
		rest -= int(n)
	}
	if rest > 0 {
		return nil // rows with codes of groups alone
	}
	return counts
}

// variant returns the variant of a core of a term with the given variant.
func (b *builder) variant(core []string, term tt.Variant) tt.Variant {
	axes := b.axes(core)
	switch {
	case history.Smooth(axes, b.data.Table):
		return tt.Side
	case slices.ContainsFunc(b.operators(axes), func(o regression.Operator) bool { return o != nil }):
		return term
	}
	return tt.Plain
}

// axes returns the axes of a core.
func (b *builder) axes(core []string) []entity.Axis {
	axes, err := model.Axes(core, b.data.Modes, b.data.Sizes, b.data.Groups)
	if err != nil {
		panic("design: " + err.Error()) // the terms were parsed, and their groups read
	}
	return axes
}

// operators returns the operators of the axes of a core, nil without side information.
func (b *builder) operators(axes []entity.Axis) []regression.Operator {
	return history.Operators(axes, b.data.Table, func(mode int) regression.Operator {
		if b.side.Operators == nil {
			return nil
		}
		return b.side.Operators[mode]
	})
}

// indexCores builds the indices of all cores at once. One that cannot be built is left
// to the term that needs it.
func (b *builder) indexCores(terms []spec.Term) {
	var cores [][]string
	for _, term := range terms {
		for _, core := range term.Cores {
			if !slices.ContainsFunc(cores, func(c []string) bool { return slices.Equal(c, core) }) {
				cores = append(cores, core)
			}
		}
	}
	found := make([]*entity.Index, len(cores))
	parallel.For(b.data.Threads, len(cores), func(i int) {
		if x, err := entity.NewAxisIndex(b.data.Threads, b.axes(cores[i]), b.data.Train); err == nil {
			found[i] = x
		}
	})
	for i, x := range found {
		b.free[tt.CoreName(cores[i])] = x
	}
}

// index returns the index of a core and the number of its entities that have training
// rows, which come first. The index of a core with side information also has the
// entities of the other rows and, for a core of one mode, all ids of the mode. Terms
// with equal cores share an index.
func (b *builder) index(core []string, informed bool) (*entity.Index, int, error) {
	key, axes := tt.CoreName(core), b.axes(core)
	if b.free[key] == nil {
		x, err := entity.NewAxisIndex(b.data.Threads, axes, b.data.Train)
		if err != nil {
			return nil, 0, err
		}
		b.free[key] = x
	}
	trained := b.free[key].Entities() - 1
	if !informed {
		return b.free[key], trained, nil
	}
	if b.informed[key] == nil {
		rest := b.data.Other
		if len(core) == 1 {
			rest = make([][]int32, len(b.data.Modes))
			mode := axes[0].Mode
			for c := range int32(b.data.Sizes[mode]) {
				rest[mode] = append(rest[mode], c)
			}
		}
		x, err := b.free[key].Extend(b.data.Threads, rest)
		if err != nil {
			return nil, 0, err
		}
		b.informed[key] = x
	}
	return b.informed[key], trained, nil
}

// regress adds the regression on side information to a core.
func (b *builder) regress(c *tt.Core, core []string, variant tt.Variant, trained int) error {
	axes := b.axes(core)
	m, err := regression.NewLinearMap(c.Index, b.operators(axes), c.Slices.Slice())
	if err != nil {
		return err
	}
	seen := make([]bool, c.Slices.N)
	for e := range trained {
		seen[e] = true
	}
	c.Regress(variant, m, seen)
	// If a mode of a joint core has no operator, each of its ids has its own regression,
	// with few entities. Then V' has its own penalty towards 1, which all regressions
	// share.
	c.Coupled = b.side.Coupled && variant == tt.WLR && m.Systems() == 1
	if len(axes) == 1 && b.side.Norms != nil && b.side.Norms[axes[0].Mode] != nil {
		norm, width := b.side.Norms[axes[0].Mode], c.Slices.Slice()
		c.Norm = func(dst, x []float32) { norm(dst, x, width) }
	}
	return nil
}
