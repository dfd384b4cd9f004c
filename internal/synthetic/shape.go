package synthetic

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Shape defines a large data set: values by owner (a store or a user), item and
// time.
type Shape struct {
	Name                 string
	Owners, Items, Times int
	Rows                 int

	leastOwners int // owners that a smaller set keeps; fewer items make up for them

	ownerPower, itemPower float64 // sizes decrease as rank^-power
	times                 float64 // average number of times per pair; 1 for ratings
	level                 float64
	ownerSD, itemSD       float64 // standard deviations of the parts of the field
	timeSD, trainSD       float64
	noiseSD               float64
	stars                 bool

	owner, item []attribute
	tags        int     // number of tags in the genome
	tagged      float64 // share of items with a genome, the largest ones
}

// shapes returns the data sets of the paper at the sizes that it gives. Which articles
// of the retail data sold where and when is an assumption.
func shapes() []Shape {
	return []Shape{
		{Name: "alcohol", Owners: 1507, Items: 4563, Times: 24, Rows: 3_028_076,
			ownerPower: 0.5, itemPower: 0.8, times: 6.4, level: 1.2, ownerSD: 0.4, itemSD: 0.5, timeSD: 0.1, trainSD: 0.6, noiseSD: 0.5,
			owner: []attribute{{name: "city", place: true}, {name: "zip", first: 50001, levels: 900}},
			item: []attribute{{name: "category_name", word: "Category ", levels: 60, drives: true},
				{name: "pack", choice: []float64{1, 6, 12, 24, 48}}, {name: "bottle_volume_ml", choice: []float64{50, 200, 375, 500, 750, 1000, 1750}, drives: true},
				{name: "state_bottle_cost", log: 2.3, sd: 0.6, drives: true}, {name: "state_bottle_retail", copies: 3, times: 1.5}}},
		{Name: "movielens", Owners: 138_493, Items: 10_370, Times: 24, Rows: 11_880_265,
			ownerPower: 0.5, itemPower: 0.9, times: 1, level: 3.5, ownerSD: 0.4, itemSD: 0.4, timeSD: 0.05, trainSD: 0.45, noiseSD: 0.75, stars: true,
			item: []attribute{{name: "year", first: 1915, levels: 100}}, tags: 1128, tagged: 1},
		{Name: "retail", Owners: 80, Items: 463_763, Times: 36, Rows: 42_490_633, leastOwners: 20,
			ownerPower: 0.3, itemPower: 0.6, times: 6, level: 1.5, ownerSD: 0.4, itemSD: 0.5, timeSD: 0.2, trainSD: 0.6, noiseSD: 0.5,
			owner: []attribute{{name: "city", place: true}, {name: "brand", word: "Brand ", levels: 4, drives: true},
				{name: "opened", first: 1990, levels: 27}, {name: "hours", choice: []float64{50, 60, 66, 72, 84}},
				{name: "floors", choice: []float64{1, 2, 3}}, {name: "area", log: 6.5, sd: 0.5, drives: true}},
			item: []attribute{{name: "department", word: "Department ", levels: 12, drives: true}, {name: "product", word: "Product ", levels: 150},
				{name: "colour", word: "Colour ", levels: 20, drives: true}, {name: "appearance", word: "Appearance ", levels: 15},
				{name: "size", choice: []float64{34, 36, 38, 40, 42, 44}}, {name: "season", word: "Season ", levels: 4, drives: true},
				{name: "price", log: 2.8, sd: 0.6, drives: true}}},
	}
}

// ShapeNames returns the names of the shapes.
func ShapeNames() []string {
	var names []string
	for _, s := range shapes() {
		names = append(names, s.Name)
	}
	return names
}

// NewShape returns a shape with the given number of rows; 0 means its default. If
// the rows shrink by a factor, the ids shrink by its square root, so that the share
// of pairs with rows stays the same. A shape with few owners keeps at least 20 of them,
// and its items shrink further.
func NewShape(name string, rows int) (Shape, error) {
	all := shapes()
	i := slices.IndexFunc(all, func(s Shape) bool { return s.Name == name })
	if i < 0 {
		return Shape{}, fmt.Errorf("unknown shape %q; use %s", name, strings.Join(ShapeNames(), ", "))
	}
	s := all[i]
	if rows == 0 {
		return s, nil
	}
	by := math.Sqrt(float64(rows) / float64(s.Rows))
	owners := by * float64(s.Owners)
	items := by * float64(s.Items)
	if least := float64(s.leastOwners); owners < least {
		owners, items = least, items*owners/least
	}
	s.Owners, s.Items = int(math.Round(owners)), int(math.Round(items))
	s.Rows = rows
	if s.Owners < 10 || s.Items < 10 {
		return Shape{}, fmt.Errorf("%d rows are too few for the shape %s; use at least %d, which give ten ids per mode", rows, name,
			leastRows(all[i]))
	}
	const most = 2_000_000_000
	if rows > most {
		return Shape{}, fmt.Errorf("%d rows exceed the maximum of %d", rows, most)
	}
	return s, nil
}

// leastRows returns the number of rows that give ten ids per mode.
func leastRows(s Shape) int {
	rows := float64(s.Rows)
	if s.leastOwners > 0 {
		return int(math.Ceil(rows * 10 * float64(s.leastOwners) / (float64(s.Owners) * float64(s.Items))))
	}
	return int(math.Ceil(rows * math.Pow(10/float64(min(s.Owners, s.Items)), 2)))
}
