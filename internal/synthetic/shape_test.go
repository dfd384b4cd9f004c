package synthetic

import "testing"

// The full shapes have the sizes that the paper gives.
func TestShapesHaveThePapersSizes(t *testing.T) {
	for _, c := range []struct {
		name                       string
		rows, owners, items, times int
	}{
		{"movielens", 11_880_265, 138_493, 10_370, 24},
		{"retail", 42_490_633, 80, 463_763, 36},
	} {
		s, err := NewShape(c.name, 0)
		if err != nil {
			t.Fatal(err)
		}
		if s.Rows != c.rows || s.Owners != c.owners || s.Items != c.items || s.Times != c.times {
			t.Errorf("%s: got %d rows, %d x %d x %d", c.name, s.Rows, s.Owners, s.Items, s.Times)
		}
	}
}

// Smaller sets are equally sparse, and those with few owners keep enough of them.
func TestSmallerShapes(t *testing.T) {
	for _, c := range []struct {
		name                string
		rows, owners, items int
	}{
		{"alcohol", 30_281, 151, 456},
		{"retail", 10_622_658, 40, 231_881},
		{"retail", 42_491, 20, 1855},
		{"retail", 230, 20, 10},
	} {
		s, err := NewShape(c.name, c.rows)
		if err != nil {
			t.Fatal(err)
		}
		if s.Rows != c.rows || s.Owners != c.owners || s.Items != c.items {
			t.Errorf("%s with %d rows: got %d rows, %d x %d", c.name, c.rows, s.Rows, s.Owners, s.Items)
		}
	}
	for _, name := range ShapeNames() {
		full, err := NewShape(name, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewShape(name, leastRows(full)); err != nil {
			t.Errorf("%s: the least number of rows of the message, %d, is refused: %v", name, leastRows(full), err)
		}
		if _, err := NewShape(name, leastRows(full)*4/5); err == nil {
			t.Errorf("%s: got no error for %d rows", name, leastRows(full)*4/5)
		}
	}
}
