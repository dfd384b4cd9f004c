package explain

import (
	"cmp"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/spec"
)

// An Effect is what an id changes if all other ids of a cell are average.
type Effect struct {
	ID     string          `json:"id"`
	Effect float64         `json:"effect"` // on the modelling scale
	Value  metrics.Number  `json:"value"`  // of that cell, in units of the target
	Rows   int             `json:"rows"`   // training rows
	Mean   *metrics.Number `json:"mean,omitempty"`
}

// A Curve is the effect of a column of side information, of the months of a year, or of
// the ids of a mode that has an order.
type Curve struct {
	Mode   string  `json:"mode"`
	Column string  `json:"column,omitempty"` // "" for the ids, Season for the months of a year
	Points []Point `json:"points"`
}

// Season is the column of a curve over the months of a year.
const Season = "month of the year"

// A Point of a curve. X is set if all points have a number or a date.
type Point struct {
	Label  string         `json:"label"`
	X      *float64       `json:"x,omitempty"`
	Effect float64        `json:"effect"` // on the modelling scale
	Value  metrics.Number `json:"value"`  // in units of the target
}

// A linearCore is a core over one axis with all other cores of its term at their average:
// the term is l G r.
type linearCore struct {
	term, core  int
	left, right []float64
	average     coreParts
}

// linearCores returns the cores over the ids of a mode, or over its groups.
func (x *Explainer) linearCores(mode int) []linearCore {
	var out []linearCore
	f := x.m.Field()
	unknown := unknownCodes(x.m)
	for k, t := range f.Terms {
		partners := 1.0
		for _, j := range f.Partners(k) {
			partners *= x.game(x.m, []int{j}, unknown, nil).value(0)
		}
		train := x.game(x.m, []int{k}, unknown, nil).trains[0]
		for p, c := range t.Cores {
			if axes := c.Index.Axes(); len(axes) > 1 || axes[0].Mode != mode {
				continue
			}
			n := linearCore{term: k, core: p, left: []float64{partners}, right: []float64{1}, average: train[p]}
			for q := range p {
				n.left = multiply(n.left, train[q].slice(0, make([]float64, train[q].left*train[q].right)), train[q].right)
			}
			for q := len(train) - 1; q > p; q-- {
				s := train[q].slice(0, make([]float64, train[q].left*train[q].right))
				n.right = multiply(n.right, transpose(s, train[q].left, train[q].right), train[q].left)
			}
			out = append(out, n)
		}
	}
	return out
}

// value returns l G r.
func (n *linearCore) value(slice []float64) float64 {
	return dot(multiply(n.left, slice, len(n.right)), n.right)
}

// averageLevel returns the level of a cell of average ids.
func (x *Explainer) averageLevel() float64 {
	scale, f := x.m.Scale(), x.m.Field()
	level := scale.Center + scale.Spread*float64(f.Offset.Mean)
	unknown := unknownCodes(x.m)
	for _, g := range groupsOf(f) {
		level += scale.Spread * x.game(x.m, g, unknown, nil).value(0)
	}
	return level
}

// Effects returns the effect of each id of a mode that has training rows, in the order in
// which a person would list them. Effects of combinations of ids are not part of it.
// O(ids x R^2).
func (x *Explainer) Effects(mode int) []Effect {
	ids := x.m.IDs(mode)
	sums := make([]float64, len(ids))
	for _, n := range x.linearCores(mode) {
		c := x.m.Field().Terms[n.term].Cores[n.core]
		size := c.Slices.Slice()
		average := n.value(n.average.slice(0, make([]float64, size)))
		of := make([]float64, c.Index.Entities())
		for e := range of {
			of[e] = n.value(float64s(c.Slices.Mean[e*size:][:size])) - average
		}
		codes := slices.Repeat([][]int32{nil}, len(x.m.Modes()))
		codes[mode] = make([]int32, len(ids))
		for i := range ids {
			codes[mode][i] = int32(i)
		}
		entity := make([]int32, len(ids))
		c.Index.Lookup(entity, codes)
		for i, e := range entity {
			sums[i] += x.m.Scale().Spread * of[e]
		}
	}
	average := x.averageLevel()
	var out []Effect
	for _, code := range x.m.Modes()[mode].Order(ids) {
		if rows := x.m.TrainingRows(mode, code); rows > 0 {
			e := Effect{ID: ids[code], Effect: sums[code], Value: metrics.Number(inverse(x.m, average+sums[code])), Rows: rows}
			if mean, known := x.m.Observed(mode, code); known {
				e.Mean = (*metrics.Number)(&mean)
			}
			out = append(out, e)
		}
	}
	return out
}

// maxPoints is the largest number of points of a curve of a column, and maxAveraged the
// number of ids that it is averaged over.
const (
	maxPoints   = 24
	maxAveraged = 200
)

// Curves returns the learned curves of a mode: of its ids if they have an order in time or
// are the values of a covariate,
// of the months of a year, and of the first columns of its side information, 0 for all.
func (x *Explainer) Curves(mode, columns int) ([]Curve, error) {
	var out []Curve
	info := x.m.Modes()[mode]
	if info.Linear() && x.m.SideOf(mode) != nil {
		return x.lines(mode, columns)
	}
	if info.Joint() {
		return nil, nil // points have no order, and a linear function that no term uses no effect
	}
	effects := x.Effects(mode)
	if !slices.ContainsFunc(effects, func(e Effect) bool { return e.Effect != 0 }) {
		effects = nil // the mode acts through series, of which each has its own curve
	}
	if (x.m.IsTime(mode) || info.Covariate()) && len(effects) > 1 {
		curve := Curve{Mode: info.Name}
		for _, e := range effects {
			p := Point{Label: e.ID, Effect: e.Effect, Value: e.Value}
			if v, ok := quantity(e.ID); ok && info.Numeric() {
				p.X = &v
			} else if info.Numeric() {
				continue // a missing value
			}
			curve.Points = append(curve.Points, p)
		}
		if len(curve.Points) > 1 {
			out = append(out, curve)
		}
		if info.Covariate() {
			return out, nil
		}
		if season := x.season(info.Name, effects); season != nil {
			out = append(out, *season)
		}
	}
	side := x.m.SideOf(mode)
	if side == nil || !x.m.Informed(mode) || side.Table == nil || x.m.Spec().Side.PlaceboOf(info.Name) != "" {
		return out, nil
	}
	for _, name := range first(side.Table.Names(), columns) {
		curve, err := x.columnCurve(mode, side, name)
		if err != nil {
			return nil, err
		}
		if len(curve.Points) > 1 {
			out = append(out, curve)
		}
	}
	return out, nil
}

// season returns the mean effect by month of the year of ids that are dates, nil unless a
// month has several ids and there are several months.
func (x *Explainer) season(mode string, effects []Effect) *Curve {
	var sum, count [13]float64
	for _, e := range effects {
		t, ok := dataset.Moment(e.ID)
		if !ok {
			return nil
		}
		sum[t.Month()] += e.Effect
		count[t.Month()]++
	}
	curve := Curve{Mode: mode, Column: Season}
	most := 0.0
	average := x.averageLevel()
	for month := 1; month <= 12; month++ {
		if count[month] > 0 {
			effect, at := sum[month]/count[month], float64(month)
			curve.Points = append(curve.Points, Point{Label: monthNames[month-1], X: &at, Effect: effect, Value: metrics.Number(inverse(x.m, average+effect))})
		}
		most = max(most, count[month])
	}
	if most < 2 || len(curve.Points) < 2 {
		return nil
	}
	return &curve
}

var monthNames = [...]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}

// columnCurve returns the mean effect of the values of a column: all other columns stay
// those of the ids, own weights are average. It is averaged over at most 200 ids.
func (x *Explainer) columnCurve(mode int, side *model.Side, name string) (Curve, error) {
	column := side.Table.Column(name)
	curve := Curve{Mode: x.m.Modes()[mode].Name, Column: name}
	var codes []int32
	for code := range column.Of {
		if side.Has[code] && x.m.TrainingRows(mode, int32(code)) > 0 {
			codes = append(codes, int32(code))
		}
	}
	if len(codes) > maxAveraged {
		for i := range maxAveraged {
			codes[i] = codes[i*len(codes)/maxAveraged]
		}
		codes = codes[:maxAveraged]
	}
	curve.Points = gridOf(x.m, mode, side, name)
	return curve, x.setEffects(mode, curve.Points, func(label string) *dataset.Frame {
		frame := side.Table.Frame(codes)
		at := slices.Index(frame.Names, name)
		for k := range frame.Columns[at] {
			frame.Columns[at][k] = label
		}
		return frame
	})
}

// setEffects sets the effects of points to the mean effect of the rows of side information that a label has, less the mean over the
// points.
func (x *Explainer) setEffects(mode int, points []Point, rowsOf func(label string) *dataset.Frame) error {
	side, cores, average := x.m.SideOf(mode), x.regressed(mode), x.averageLevel()
	baseline := 0.0
	for i := range points {
		p := &points[i]
		features, err := side.Encoder.Encode(rowsOf(p.Label))
		if err != nil {
			return err
		}
		x.mutex.Lock()
		rows, _, err := side.Operator.NewRows(features)
		x.mutex.Unlock()
		if err != nil {
			return err
		}
		mean := make([]float32, side.Operator.Columns())
		for k, v := range rows {
			mean[k%len(mean)] += v / float32(features.N)
		}
		for _, n := range cores {
			c := x.m.Field().Terms[n.term].Cores[n.core]
			parts := n.average
			parts.sideMean = contract(c, []operatorRow{{values: mean, columns: len(mean)}})
			p.Effect += x.m.Scale().Spread * n.value(parts.slice(0, make([]float64, parts.left*parts.right)))
		}
		baseline += p.Effect / float64(len(points))
	}
	for i := range points {
		points[i].Effect -= baseline
		points[i].Value = metrics.Number(inverse(x.m, average+points[i].Effect))
	}
	return nil
}

// regressed returns the cores over the ids of a mode that have a regression.
func (x *Explainer) regressed(mode int) []linearCore {
	return slices.DeleteFunc(x.linearCores(mode), func(n linearCore) bool { return n.average.sideMean == nil })
}

// gridOf returns the values of a column at which its curve is computed: quantiles of
// numbers and dates, or the most frequent levels.
func gridOf(m *model.Model, mode int, side *model.Side, name string) []Point {
	column := side.Table.Column(name)
	count := make([]int, len(column.Levels))
	for code, level := range column.Of {
		if level >= 0 && m.TrainingRows(mode, int32(code)) > 0 {
			count[level]++
		}
	}
	var points []Point
	var levels []int
	numbers := !levelled(m, mode, name)
	for level, text := range column.Levels {
		if count[level] == 0 {
			continue
		}
		p := Point{Label: text}
		if v, ok := quantity(text); ok && numbers {
			p.X = &v
		} else {
			numbers = false
		}
		points, levels = append(points, p), append(levels, level)
	}
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if numbers {
			return cmp.Or(cmp.Compare(*points[a].X, *points[b].X), cmp.Compare(a, b))
		}
		return cmp.Or(cmp.Compare(count[levels[b]], count[levels[a]]), cmp.Compare(points[a].Label, points[b].Label))
	})
	var chosen []Point
	for i, k := range order {
		if len(order) > maxPoints && numbers && i*(maxPoints-1)/(len(order)-1) == (i-1)*(maxPoints-1)/(len(order)-1) && i > 0 {
			continue
		}
		if !numbers {
			points[k].X = nil
			if i == maxPoints {
				break
			}
		}
		chosen = append(chosen, points[k])
	}
	return chosen
}

// quantity returns the number, or the date in days, of a text.
func quantity(text string) (float64, bool) {
	if v, ok := dataset.Number(text); ok && !math.IsInf(v, 0) && !math.IsNaN(v) {
		return v, true
	}
	if t, ok := dataset.Moment(text); ok {
		return float64(t.Unix()) / (24 * 60 * 60), true
	}
	return 0, false
}

// levelled reports whether the values of a column are names.
func levelled(m *model.Model, mode int, column string) bool {
	for _, s := range m.Record().Side {
		if s.Mode != m.Modes()[mode].Name {
			continue
		}
		for _, c := range s.Table.Columns {
			if c.Name == column {
				return c.Type == sideinfo.Cat || c.Type == sideinfo.Labels || c.Type == sideinfo.Words || c.Type == sideinfo.Group || c.Type == sideinfo.Year
			}
		}
	}
	return false
}

// groupColumns returns the columns of a mode that terms use as groups.
func groupColumns(m *model.Model, mode int) []string {
	var out []string
	for _, g := range m.Spec().Groups() {
		if at, _ := spec.CutGroup(g.String(), m.Spec().ModeNames()); at == mode {
			out = append(out, g.Column)
		}
	}
	return out
}
