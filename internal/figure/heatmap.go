package figure

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// A Map is a matrix of rates in [0, 1], drawn as coloured cells with a legend.
type Map struct {
	Title      string
	RowName    string // name of the row mode, such as store
	ColumnName string
	Rows       []string // labels
	Columns    []string
	Nominal    float64 // the rate at the centre of the colour scale
	Rate       func(row, column int) float64
	Weight     func(row int) int // selects the rows if there are too many; nil selects the first
}

// MaxRows is the maximum number of rows. If there are more, those with the largest
// weights are drawn in their original order, and the title says so.
const MaxRows = 300

const (
	maxLabels    = 40 // of an axis
	legendSpace  = 120.0
	legendHeight = 200.0
	legendSteps  = 50
)

// Figure draws the map.
func (m Map) Figure() *Figure {
	shown := largest(len(m.Rows), m.Weight)
	title := m.Title
	if len(shown) < len(m.Rows) {
		title += fmt.Sprintf(" (%d of %d %s entities, those with the most values)", len(shown), len(m.Rows), m.RowName)
	}
	rows, columns := len(shown), len(m.Columns)
	cellH, cellW := clamp(720/max(rows, 1), 3, 24), clamp(960/max(columns, 1), 3, 32)
	labels, below := TextWidth(m.RowName), 0.0
	for _, r := range shown {
		labels = max(labels, TextWidth(Shorten(m.Rows[r], 24)))
	}
	for _, text := range m.Columns {
		below = max(below, TextWidth(Shorten(text, 24)))
	}
	left, top := 16+labels, 44.0
	right, bottom := left+cellW*float64(columns), top+cellH*float64(rows)
	f := &Figure{Width: max(right+legendSpace, TextWidth(title)+40), Height: top + max(cellH*float64(rows), legendHeight+20) + below + 40, Title: title}
	f.Description = fmt.Sprintf("%d rows of %s by %d columns of %s; the nominal share is %s.", rows, m.RowName, columns, m.ColumnName, Number(m.Nominal))
	f.Text(10, 16, Start, "head", title)
	cells := map[string]*strings.Builder{} // path of the cells by attributes
	for i, r := range shown {
		y := top + cellH*float64(i)
		for k := range columns {
			style := shade(m.Rate(r, k), m.Nominal)
			if cells[style] == nil {
				cells[style] = &strings.Builder{}
			}
			fmt.Fprintf(cells[style], "M%s %sh%sv%sh-%sz", coordinate(left+cellW*float64(k)), coordinate(y), coordinate(cellW), coordinate(cellH), coordinate(cellW))
		}
		if labelled(i, rows, step(rows, cellH)) {
			f.Text(left-4, y+cellH/2, End, "", Shorten(m.Rows[r], 24))
		}
	}
	for _, style := range slices.Sorted(maps.Keys(cells)) {
		fmt.Fprintf(&f.body, `<path shape-rendering="crispEdges" stroke="none" %s d="%s"/>`+"\n", style, cells[style].String())
	}
	for k, name := range m.Columns {
		if labelled(k, columns, step(columns, cellW)) {
			f.TextUp(left+cellW*(float64(k)+0.5), bottom+4, End, "", Shorten(name, 24))
		}
	}
	f.Text(left-4, top-9, End, "soft", m.RowName)
	f.Text((left+right)/2, f.Height-12, Middle, "soft", m.ColumnName)
	m.legend(f, right+16, top)
	return f
}

func (m Map) legend(f *Figure, x, top float64) {
	h := legendHeight / legendSteps
	for i := range legendSteps {
		rate := 1 - (float64(i)+0.5)/legendSteps
		f.rect(x, top+h*float64(i), 16, h, shade(rate, m.Nominal)+` shape-rendering="crispEdges"`, "")
	}
	for _, rate := range []float64{0, 0.5, 1, m.Nominal} {
		if rate != m.Nominal && math.Abs(rate-m.Nominal) < 0.07 {
			continue
		}
		label := fmt.Sprintf("%g", rate)
		if rate == m.Nominal {
			label += " nominal"
		}
		f.Text(x+22, top+(1-rate)*legendHeight, Start, "", label)
	}
	f.Rect(x, top+legendHeight+8, 16, 10, "none", "")
	f.Text(x+22, top+legendHeight+13, Start, "", "no values")
}

// shade returns the attributes of a rate: pale at the nominal rate, red below and blue
// above, with equal intensity for equal distances on both sides, and grey for NaN. The
// square root of the distance emphasizes small distances. There are 24 shades on each
// side.
func shade(rate, nominal float64) string {
	if math.IsNaN(rate) {
		return `class="none"`
	}
	const shades = 24
	share := math.Round(shades*math.Sqrt(math.Abs(rate-nominal)/max(nominal, 1-nominal))) / shades
	end := [3]float64{33, 102, 172}
	if rate < nominal {
		end = [3]float64{178, 24, 43}
	}
	pale := [3]float64{247, 247, 240}
	part := func(i int) int { return int(math.Round(pale[i] + share*(end[i]-pale[i]))) }
	return fmt.Sprintf(`fill="#%02x%02x%02x"`, part(0), part(1), part(2))
}

// step returns the distance between labels such that they do not overlap and are not
// too many.
func step(count int, size float64) int {
	return max(int(math.Ceil(14/size)), (count+maxLabels-1)/maxLabels, 1)
}

// labelled reports whether entry i of count has a label: every step-th, and the last
// one.
func labelled(i, count, step int) bool {
	return i == count-1 || i%step == 0 && count-1-i >= step
}

func largest(count int, weight func(row int) int) []int {
	rows := make([]int, count)
	for i := range rows {
		rows[i] = i
	}
	if count <= MaxRows {
		return rows
	}
	if weight != nil {
		slices.SortStableFunc(rows, func(a, b int) int { return weight(b) - weight(a) })
	}
	rows = rows[:MaxRows]
	slices.Sort(rows)
	return rows
}

func clamp(v, low, high int) float64 { return float64(min(max(v, low), high)) }
