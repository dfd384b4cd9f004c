package covariate

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// MaxBins is the largest number of bins of a numeric covariate, without that of missing
// values.
const MaxBins = 255

// NoRow stands for the value of a lag whose cell has no row.
var NoRow = math.Inf(-1)

// Text returns the id of a number: its shortest text as a float32. NaN gives the id of a
// missing value, and NoRow its own.
func Text(v float64) string {
	switch {
	case math.IsNaN(v):
		return dataset.MissingID
	case v == NoRow:
		return dataset.NoRowID
	}
	if v == 0 {
		v = 0 // not -0
	}
	return strconv.FormatFloat(v, 'g', -1, 32)
}

// Value reads a field as a number in the given format: NaN if it is missing, and false
// if it is neither missing nor a finite number within the range of float32.
func Value(text string, format dataset.NumberFormat) (float64, bool) {
	if dataset.MissingNumber(text) {
		return math.NaN(), true
	}
	v, ok := number(text, format)
	return v, ok && math.Abs(v) <= math.MaxFloat32
}

// number reads a number, also one with a percent sign: 12 % is 12.
func number(text string, format dataset.NumberFormat) (float64, bool) {
	if !format.Plain() {
		plain, ok := format.AppendPlain(nil, []byte(text))
		if !ok {
			return 0, false
		}
		text = string(plain)
	}
	return dataset.Number(strings.TrimRight(strings.TrimSuffix(text, "%"), " "))
}

// widthBins is the number of bins that wide ones are divided into at most: with MaxBins bins of
// equally many rows, those at the ends of a column are so wide that a steep curve is coarse there.
const widthBins = 128

// cut divides sorted distinct values, each with a number of rows, into at most MaxBins bins of
// about equally many rows, of which none is much wider than a widthBins-th of all values. It
// returns the centre of each bin, the mean over its rows, and the bin of each value. O(values).
func cut(values []float64, rows []int) (centres []float64, bin []int) {
	if len(values) <= MaxBins {
		return divide(values, rows, 1, -1, func(float64) float64 { return 0 }) // each has its own
	}
	at := func(v float64) float64 { return v }
	if equal, _ := divide(values, rows, MaxBins, math.Inf(1), at); (&Grid{centres: equal}).Skewed() {
		shift := 0.0
		if values[0] == 0 {
			shift = 1
		}
		at = func(v float64) float64 { return math.Log(v + shift) }
	}
	return divide(values, rows, MaxBins-widthBins, (at(values[len(values)-1])-at(values[0]))/widthBins, at)
}

// divide cuts values into bins that end if they are wider than a width, at the places of the
// values, or have their share of the rows that are left: a frequent value has a bin of its own, and
// the others divide the rest evenly.
func divide(values []float64, rows []int, most int, width float64, at func(v float64) float64) (centres []float64, bin []int) {
	bin = make([]int, len(values))
	left := 0 // rows that are in no bin yet
	for _, n := range rows {
		left += n
	}
	sum, inBin, full, start := 0.0, 0, 0, at(values[0])
	for i, v := range values {
		bin[i] = len(centres)
		sum += v * float64(rows[i])
		inBin += rows[i]
		last := i == len(values)-1
		enough := inBin*(most-full) >= left
		if !enough && !last && at(values[i+1])-start <= width {
			continue
		}
		centres = append(centres, round(sum/float64(inBin)))
		if enough {
			full++
		}
		left -= inBin
		sum, inBin = 0, 0
		if !last {
			start = at(values[i+1])
		}
	}
	return centres, bin
}

// round returns the float32 that [Text] writes.
func round(v float64) float64 { return float64(float32(v)) }

// A Grid places the values of a numeric covariate at ids: its centres, points between
// them, and points beyond them. It does not change and may be shared.
type Grid struct {
	centres []float64
	steps   int // between two centres
}

// gridPoints is the number of points between the outermost centres, about; reach is how
// far the grid goes beyond them, in multiples of their distance.
const (
	gridPoints = 1020
	reach      = 8
)

// GridOf returns the grid of the ids of a mode. Ids that are not numbers, as that of
// missing values, have no part in it. O(n log n).
func GridOf(ids []string) *Grid {
	g := &Grid{}
	for _, id := range ids {
		if v, ok := dataset.Number(id); ok {
			g.centres = append(g.centres, v)
		}
	}
	slices.Sort(g.centres)
	g.centres = slices.Compact(g.centres)
	g.steps = max(4, gridPoints/max(len(g.centres)-1, 1))
	return g
}

// Within reports whether a value lies between the outermost centres.
func (g *Grid) Within(v float64) bool {
	return len(g.centres) > 0 && v >= g.centres[0] && v <= g.centres[len(g.centres)-1]
}

// Range returns the outermost centres, 0 and 0 without any.
func (g *Grid) Range() (low, high float64) {
	if len(g.centres) == 0 {
		return 0, 0
	}
	return g.centres[0], g.centres[len(g.centres)-1]
}

// ID returns the id of the grid point next to a value, and the ids of NaN and NoRow.
// O(log n).
func (g *Grid) ID(v float64) string {
	n := len(g.centres)
	if math.IsNaN(v) || v == NoRow || n == 0 {
		return Text(v)
	}
	low, high := g.Range()
	if v <= 0 && v < low && low >= 0 && g.Skewed() {
		v = low / 2 // it has no logarithm
	}
	switch {
	case v < low:
		return Text(g.beyond(low, v, high-low))
	case v > high:
		return Text(g.beyond(high, v, high-low))
	}
	at, exact := slices.BinarySearch(g.centres, v)
	if exact {
		return Text(v)
	}
	from, gap := g.centres[at-1], g.centres[at]-g.centres[at-1]
	step := math.Round((v - from) / gap * float64(g.steps))
	if step == float64(g.steps) {
		return Text(g.centres[at])
	}
	return Text(from + step*gap/float64(g.steps))
}

// Exact returns the id of a number itself as far as the grid goes, otherwise that of [Grid.ID].
func (g *Grid) Exact(v float64) string {
	low, high := g.Range()
	edge := min(max(v, low), high)
	near := len(g.centres) > 0 && math.Abs(v-edge) <= reach*max(high-low, math.Abs(edge), 1e-30)
	if near && (v > 0 || v >= low || low < 0 || !g.Skewed()) { // it has a logarithm, if that is needed
		return Text(round(v))
	}
	return g.ID(v)
}

// beyond rounds the distance of a value from the outermost centre to two digits and
// bounds it. A positive value stays positive.
func (g *Grid) beyond(edge, v, width float64) float64 {
	limit := reach * max(width, math.Abs(edge), 1e-30)
	d := math.Copysign(significant(min(math.Abs(v-edge), limit), 2), v-edge)
	if placed := edge + d; placed > 0 == (v > 0) {
		return max(-math.MaxFloat32, min(placed, math.MaxFloat32))
	}
	return significant(v, 1)
}

// significant rounds a number to some significant digits.
func significant(v float64, digits int) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits-1, 64), 64)
	return rounded
}

// Code returns the code of a value in a dictionary that [SetNumbers] made, that of a
// missing value if it has none for NaN or NoRow.
func (g *Grid) Code(dict *dataset.Dict, v float64) int32 {
	if !math.IsNaN(v) && v != NoRow {
		return int32(g.nearest(v))
	}
	code, ok := dict.Code([]byte(Text(v)))
	if !ok {
		code, _ = dict.Code([]byte(dataset.MissingID))
	}
	return code
}

// nearest returns the position, among the centres in increasing order, of the one next
// to a value.
func (g *Grid) nearest(v float64) int {
	at, _ := slices.BinarySearch(g.centres, v)
	switch {
	case at == 0:
		return 0
	case at == len(g.centres) || v-g.centres[at-1] < g.centres[at]-v:
		return at - 1
	}
	return at
}

// Skewed reports whether centres are better compared by their logarithms: they are 0 or
// more, and the logarithms are much less skewed than the numbers.
func (g *Grid) Skewed() bool {
	if len(g.centres) < 5 || g.centres[0] < 0 {
		return false
	}
	shift := 0.0
	if g.centres[0] == 0 {
		shift = 1
	}
	logs := make([]float64, len(g.centres))
	for i, v := range g.centres {
		logs[i] = math.Log(v + shift)
	}
	skew := skewness(g.centres)
	return skew > 1 && math.Abs(skewness(logs)) < skew/2
}

func skewness(values []float64) float64 {
	mean := 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	var m2, m3 float64
	for _, v := range values {
		m2 += (v - mean) * (v - mean)
		m3 += (v - mean) * (v - mean) * (v - mean)
	}
	n := float64(len(values))
	if m2 == 0 {
		return 0
	}
	return m3 / n / math.Pow(m2/n, 1.5)
}
