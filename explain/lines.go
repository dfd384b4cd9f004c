package explain

import (
	"cmp"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/model"
)

// lines returns the parts of a linear function that its covariates have.
func (x *Explainer) lines(mode, columns int) ([]Curve, error) {
	info := x.m.Modes()[mode]
	var out []Curve
	for i, name := range first(info.Columns, columns) {
		curve := Curve{Mode: info.Name, Column: name}
		at := info.Members(x.m.Modes())[i]
		for code, id := range x.m.IDs(at) {
			if v, ok := quantity(id); ok && x.m.TrainingRows(at, int32(code)) > 0 {
				curve.Points = append(curve.Points, Point{Label: id, X: &v})
			}
		}
		slices.SortFunc(curve.Points, func(a, b Point) int { return cmp.Compare(*a.X, *b.X) })
		if n := len(curve.Points); n > maxPoints {
			for k := range maxPoints {
				curve.Points[k] = curve.Points[k*(n-1)/(maxPoints-1)]
			}
			curve.Points = curve.Points[:maxPoints]
		}
		err := x.setEffects(mode, curve.Points, func(label string) *dataset.Frame {
			frame := &dataset.Frame{Names: info.Columns, Columns: make([][]string, len(info.Columns))}
			for k := range frame.Columns {
				frame.Columns[k] = []string{""} // the mean
			}
			frame.Columns[i][0] = label
			return frame
		})
		if err != nil {
			return nil, err
		}
		if len(curve.Points) > 1 {
			out = append(out, curve)
		}
	}
	return out, nil
}

// plainNumber returns a number of a point as its encoder takes it: "" for one that is missing.
func plainNumber(id string) string {
	if id == dataset.MissingID || id == dataset.NoRowID {
		return ""
	}
	return id
}

// averageNumbers returns the mean features of a linear function over the training rows, nil for another mode. The features of
// a number depend on it alone.
func (x *Explainer) averageNumbers(mode int) ([]float32, error) {
	info, side := x.m.Modes()[mode], x.m.SideOf(mode)
	if !info.Linear() || side == nil {
		return nil, nil
	}
	members, most := info.Members(x.m.Modes()), 0
	for _, at := range members {
		most = max(most, x.m.Dicts()[at].Len())
	}
	frame := &dataset.Frame{Names: info.Columns}
	for _, at := range members {
		column := make([]string, most)
		for code, id := range x.m.IDs(at) {
			column[code] = plainNumber(id)
		}
		frame.Columns = append(frame.Columns, column)
	}
	features, err := side.Encoder.Encode(frame)
	if err != nil {
		return nil, err
	}
	mean := make([]float32, features.C)
	for c, origin := range features.Origins {
		k := slices.Index(info.Columns, origin)
		if k < 0 {
			continue // of a changed model file
		}
		at, sum, count := members[k], 0.0, 0.0
		for code := range x.m.Dicts()[at].Len() {
			n := float64(x.m.TrainingRows(at, int32(code)))
			sum, count = sum+n*float64(features.X[code*features.C+c]), count+n
		}
		mean[c] = float32(sum / max(count, 1))
	}
	return mean, nil
}

// lineRows returns rows of the operator of a linear function: that of the average numbers, and for each number that of the
// point with all others average.
func (x *Explainer) lineRows(m *model.Model, mode int, numbers []string) ([][]float32, error) {
	info, side, mean := m.Modes()[mode], m.SideOf(mode), x.averages[mode]
	frame := &dataset.Frame{Names: info.Columns}
	for _, id := range numbers {
		frame.Columns = append(frame.Columns, []string{plainNumber(id)})
	}
	features, err := side.Encoder.Encode(frame)
	if err != nil {
		return nil, err
	}
	own := features.X
	features.N, features.X = 1+len(numbers), slices.Repeat(mean, 1+len(numbers))
	for k, name := range info.Columns {
		for c, origin := range features.Origins {
			if origin == name {
				features.X[(1+k)*features.C+c] = own[c]
			}
		}
	}
	x.mutex.Lock()
	values, _, err := side.Operator.NewRows(features)
	x.mutex.Unlock()
	if err != nil {
		return nil, err
	}
	return slices.Collect(slices.Chunk(values, side.Operator.Columns())), nil
}

// lineParts divides the part of a linear function in a game among its numbers: a term is linear in the row of the operator, so
// their parts are those that they have while the other numbers are average. What remains, by rounding, is divided equally.
func (x *Explainer) lineParts(m *model.Model, group []int, codes [][]int32, mode int, part float64) ([]float64, error) {
	info := m.Modes()[mode]
	numbers := info.Numbers(m.Dicts()[mode].ID(codes[mode][0]))
	if numbers == nil {
		numbers = make([]string, len(info.Columns)) // of a changed model file
	}
	rows, err := x.lineRows(m, mode, numbers)
	if err != nil {
		return nil, err
	}
	of := func(row []float32) float64 {
		game := x.game(m, group, codes, map[int]override{mode: {row: row}})
		_, parts := game.shapley()
		return parts[slices.Index(game.sources, sideOf(mode))]
	}
	average := of(rows[0])
	parts := make([]float64, len(rows)-1)
	for k, row := range rows[1:] {
		parts[k] = of(row) - average
		part -= parts[k]
	}
	for k := range parts {
		parts[k] += part / float64(len(parts))
	}
	return parts, nil
}
