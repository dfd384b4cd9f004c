package explain

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// An Importance is how much worse predictions become if the ids of a mode are exchanged
// between rows at random, or the values of a column between ids. Points have none of their own: with
// a number that forms some, all that is made of it is exchanged.
type Importance struct {
	Mode   string  `json:"mode"`
	Column string  `json:"column,omitempty"` // "" for the ids themselves
	Loss   float64 `json:"loss"`             // fall of R2 on the modelling scale
	SD     float64 `json:"sd"`               // of Loss between permutations; 0 for one
}

// ImportanceOptions specify how importances are measured. Zero values select the
// defaults.
type ImportanceOptions struct {
	Rows         int // the largest number of rows; 100,000 by default, and 5,000 for a model with points
	Permutations int // 3 by default
	Columns      int // the largest number of side columns of a mode; 0 for all
}

// mostPoints is the largest number of rows that importances are measured on if numbers form points, which are new after each
// permutation.
const mostPoints = 5_000

// Importances measures the importance of each mode and of each column of side
// information on rows that the model was not trained on. The largest are first. It costs
// one evaluation of the field per mode, column and permutation, and for a column also
// the computation of its operator.
func (x *Explainer) Importances(ctx context.Context, b backend.Backend, rows evaluate.Rows, opt ImportanceOptions) ([]Importance, error) {
	if opt.Rows == 0 {
		opt.Rows = 100_000
	}
	if opt.Permutations == 0 {
		opt.Permutations = 3
	}
	if slices.ContainsFunc(x.m.Modes(), dataset.Mode.Joint) {
		opt.Rows = min(opt.Rows, mostPoints)
	}
	s := newSample(x.m, rows, opt.Rows)
	base := s.r2(b, x.field(x.m, b, nil))
	var out []Importance
	measure := func(mode, column string, permuted func(rng *rand.Rand) (float64, error)) error {
		var losses []float64
		for k := range opt.Permutations {
			if err := ctx.Err(); err != nil {
				return err
			}
			r2, err := permuted(randstream.New(x.m.Spec().Seed, "importance", uint64(k)))
			if err != nil {
				return err
			}
			if loss := base - r2; math.IsNaN(loss) || math.IsInf(loss, 0) {
				return fmt.Errorf("the importance of %s %s is not a finite number: the model does not explain rows of the table", mode, column)
			}
			losses = append(losses, base-r2)
		}
		mean, sd := meanAndSD(losses)
		out = append(out, Importance{mode, column, mean, sd})
		return nil
	}
	for mode, info := range x.m.Modes() {
		if info.Joint() {
			continue
		}
		err := measure(info.Name, "", func(rng *rand.Rand) (float64, error) {
			changed, m := s.permuted(mode, rng)
			return changed.r2(b, x.field(m, b, nil)), nil
		})
		if err != nil {
			return nil, err
		}
		for _, column := range first(x.columns(mode), opt.Columns) {
			err := measure(info.Name, column, func(rng *rand.Rand) (float64, error) {
				changed, err := x.permuteColumn(mode, column, rng)
				if err != nil {
					return 0, err
				}
				return s.r2(b, x.field(x.m, b, changed)), nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Importance) int { return cmp.Compare(b.Loss, a.Loss) })
	return out, nil
}

// first returns the first n names, all for n = 0.
func first(names []string, n int) []string {
	if n > 0 && len(names) > n {
		return names[:n]
	}
	return names
}

func meanAndSD(values []float64) (mean, sd float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		sd += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sd / max(float64(len(values)-1), 1))
}

// columns returns the columns of a mode that the model uses.
func (x *Explainer) columns(mode int) []string {
	columns := groupColumns(x.m, mode)
	if side := x.m.SideOf(mode); side != nil && x.m.Informed(mode) && x.m.Spec().Side.PlaceboOf(x.m.Modes()[mode].Name) == "" {
		for _, name := range side.Table.Names() {
			if !slices.Contains(columns, name) {
				columns = append(columns, name)
			}
		}
	}
	return columns
}

// A sample holds rows with their targets on the modelling scale.
type sample struct {
	m     *model.Model
	rows  model.Rows
	y     []float64
	total float64 // sum of squares about the mean
}

// newSample takes at most n rows with a target, evenly spaced.
func newSample(m *model.Model, rows evaluate.Rows, n int) *sample {
	s := &sample{m: m, rows: model.Rows{Codes: make([][]int32, len(rows.Codes))}}
	count := len(rows.Y)
	take := min(n, count)
	for k := range take {
		i := k * count / take
		y := rows.Target(i)
		if math.IsNaN(y) || rows.W != nil && rows.W[i] == 0 {
			continue
		}
		s.y = append(s.y, m.Scale().OnScale(y))
		for mode := range rows.Codes {
			s.rows.Codes[mode] = append(s.rows.Codes[mode], rows.Codes[mode][i])
		}
		if rows.Exposure != nil {
			s.rows.Exposure = append(s.rows.Exposure, rows.Exposure[i])
		}
	}
	m.ForgetUntrained(s.rows.Codes)
	mean := 0.0
	for _, y := range s.y {
		mean += y / float64(len(s.y))
	}
	for _, y := range s.y {
		s.total += (y - mean) * (y - mean)
	}
	return s
}

// permuted returns the sample with the ids of a mode exchanged between rows, and the model that its codes belong to.
func (s *sample) permuted(mode int, rng *rand.Rand) (*sample, *model.Model) {
	out, m := *s, s.m
	column := slices.Clone(s.rows.Codes[mode])
	rng.Shuffle(len(column), func(i, j int) { column[i], column[j] = column[j], column[i] })
	if m.Formed(mode) {
		m, out.rows.Codes = m.WithNumbers(s.rows.Codes, mode, column)
		return &out, m
	}
	out.rows.Codes = slices.Clone(s.rows.Codes)
	out.rows.Codes[mode] = column
	return &out, m
}

// r2 returns R2 of a field on the modelling scale.
func (s *sample) r2(b backend.Backend, f *tt.Field) float64 {
	if len(s.y) == 0 {
		return 0
	}
	values := make([]float32, len(s.y))
	f.Evaluate(b, values, s.rows.Codes)
	squares := 0.0
	for i, y := range s.y {
		d := y - s.m.Scale().LevelOnScale(s.m.Level(values[i], s.rows, i))
		squares += d * d
	}
	return 1 - squares/s.total
}

// permutedSide is the side information of a mode in which the values of one column are
// exchanged between ids.
type permutedSide struct {
	mode     int
	operator regression.Operator // nil if no regression uses the column
	column   string
	group    []int32 // groups by the column; nil if no term uses them
}

// permuteColumn exchanges the values of a column between the ids that have training rows.
func (x *Explainer) permuteColumn(mode int, name string, rng *rand.Rand) (*permutedSide, error) {
	n := x.m.Dicts()[mode].Len()
	from := make([]int32, n) // the code whose value a code takes
	var trained []int32
	for code := range from {
		from[code] = int32(code)
		if x.m.TrainingRows(mode, int32(code)) > 0 {
			trained = append(trained, int32(code))
		}
	}
	for i, k := range rng.Perm(len(trained)) {
		from[trained[i]] = trained[k]
	}
	out := &permutedSide{mode: mode, column: name}
	if c := x.m.GroupsOf(mode).Column(name); c != nil {
		out.group = slices.Clone(c.Of)
		for code, source := range from {
			out.group[code] = c.Of[source]
		}
	}
	side := x.m.SideOf(mode)
	if side == nil || side.Table.Column(name) == nil {
		return out, nil
	}
	frame := side.Table.Frame(trained)
	column := side.Table.Column(name)
	at := slices.Index(frame.Names, name)
	for i, code := range trained {
		frame.Columns[at][i] = column.Value(from[code])
	}
	rows, err := x.operatorRows(side, frame)
	if err != nil {
		return nil, err
	}
	columns := side.Operator.Columns()
	values := slices.Clone(side.Operator.Matrix())
	for i, code := range trained {
		copy(values[int(code)*columns:][:columns], rows[i*columns:][:columns])
	}
	out.operator = matrix{n, columns, values}
	return out, nil
}

// matrix is an operator that is only a matrix.
type matrix struct {
	rows, columns int
	values        []float32
}

func (m matrix) Rows() int         { return m.rows }
func (m matrix) Columns() int      { return m.columns }
func (m matrix) Matrix() []float32 { return m.values }

// field returns the field of a model as plain cores, with the side information of a mode
// changed unless it is nil. Combinations that joint cores have no slices for take the
// prior.
func (x *Explainer) field(m *model.Model, b backend.Backend, changed *permutedSide) *tt.Field {
	f := m.Field()
	out := &tt.Field{Group: f.Group, Offset: f.Offset, Series: f.Series}
	for _, t := range f.Terms {
		train := &tt.Train{}
		for _, c := range t.Cores {
			train.Cores = append(train.Cores, x.plainCore(b, c, changed))
		}
		out.Terms = append(out.Terms, train)
	}
	return out
}

func (x *Explainer) plainCore(b backend.Backend, c *tt.Core, changed *permutedSide) *tt.Core {
	plain := &tt.Core{Modes: c.Modes, Index: c.Index, Variant: tt.Plain, Slices: backend.Slices{Shape: c.Slices.Shape, Mean: c.Slices.Mean}}
	plain.Free = plain.Slices.Mean
	if changed == nil {
		return plain
	}
	axes := slices.Clone(c.Index.Axes())
	operators := make([]regression.Operator, len(axes))
	regroups, regresses := false, false
	for i := range axes {
		a := &axes[i]
		side := x.m.SideOf(a.Mode)
		_, column := spec.CutGroup(c.Modes[i], x.m.Spec().ModeNames())
		switch {
		case a.Group != nil && a.Mode == changed.mode && column == changed.column && changed.group != nil:
			a.Group, regroups = changed.group, true
		case a.Group == nil && a.Mode == changed.mode && changed.operator != nil:
			operators[i], regresses = changed.operator, true
		case a.Group == nil && side != nil:
			operators[i] = side.Operator
		}
	}
	if regroups {
		if index, err := entity.RestoreAxisIndex(axes, c.Index.Combinations()); err == nil {
			plain.Index = index
		}
	}
	if c.Map == nil || !regresses {
		return plain
	}
	m, err := regression.NewLinearMap(c.Index, operators, c.Slices.Slice())
	if err != nil {
		return plain // the core itself could not have been built
	}
	plain.Slices.Mean = x.recombine(b, c, m)
	plain.Free = plain.Slices.Mean
	return plain
}

// recombine returns the means of the slices of a core with another regression. The prior
// slice stays.
func (x *Explainer) recombine(b backend.Backend, c *tt.Core, m *regression.LinearMap) []float32 {
	out := make([]float32, len(c.Slices.Mean))
	m.Apply(b, out, c.Weight, false)
	size := c.Slices.Slice()
	last := (c.Slices.N - 1) * size
	copy(out[last:], c.Slices.Mean[last:])
	if c.Free == nil {
		return out
	}
	prior := len(c.Free) - size
	for i := range last {
		at := i
		if at >= prior {
			at = prior + i%size // an id without weights of its own
		}
		v := c.Free[at]
		if c.Variant == tt.WLR {
			out[i] *= v
		} else {
			out[i] += v
		}
	}
	return out
}
