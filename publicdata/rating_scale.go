package publicdata

import (
	"context"
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// A ratingScale is the range of valid ratings.
type ratingScale struct{ low, high float64 }

// stars is the scale of all MovieLens downloads.
var stars = ratingScale{0.5, 5}

func (s ratingScale) String() string { return fmt.Sprintf("between %g and %g", s.low, s.high) }

func (s ratingScale) holds(v float64) bool { return v >= s.low && v <= s.high }

// Ratings outside the stars are errors if they are rare. If not, the table has another
// scale: its values that are not rare, or all of them if there are too many to count.
const (
	strayRatings    = 10
	strayShare      = 0.01  // of all ratings: more of them outside the stars are another scale
	rareShare       = 0.001 // of all ratings: a value of another scale has more
	maxDistinct     = 1000
	mostlyDropped   = 0.5 // share of the rows: too few are left
	warnDropped     = 0.1
	ratingFileShape = "userId,movieId,rating,timestamp"
)

// ratingCounts counts the values of ratings.
type ratingCounts struct {
	all, outside int
	low, high    float64
	values       map[float64]int // nil if there are more than maxDistinct
}

func newRatingCounts() *ratingCounts {
	return &ratingCounts{low: math.Inf(1), high: math.Inf(-1), values: map[float64]int{}}
}

func (c *ratingCounts) add(v float64, n int) {
	c.all += n
	if !stars.holds(v) {
		c.outside += n
	}
	c.low, c.high = min(c.low, v), max(c.high, v)
	if c.values == nil {
		return
	}
	if c.values[v] += n; len(c.values) > maxDistinct {
		c.values = nil
	}
}

func (c *ratingCounts) merge(o *ratingCounts) {
	if o.values != nil {
		for v, n := range o.values {
			c.add(v, n)
		}
		return
	}
	c.all, c.outside, c.values = c.all+o.all, c.outside+o.outside, nil
	c.low, c.high = min(c.low, o.low), max(c.high, o.high)
}

func (c *ratingCounts) scale() ratingScale {
	if float64(c.outside) <= max(strayRatings, strayShare*float64(c.all)) {
		return stars
	}
	found := ratingScale{math.Inf(1), math.Inf(-1)}
	for v, n := range c.values {
		if float64(n) > rareShare*float64(c.all) {
			found.low, found.high = min(found.low, v), max(found.high, v)
		}
	}
	if found.low > found.high {
		return ratingScale{c.low, c.high}
	}
	return found
}

// findScale reads the ratings once to find their scale.
func findScale(ctx context.Context, file string, known release, threads int) (ratingScale, error) {
	at := known.columns
	total := newRatingCounts()
	err := tableio.Scan(ctx, tableio.Files(file), known.format, threads, func(names []string) (err error) {
		at, err = known.locateRatings(file, names)
		return err
	}, func(_ int, r *tableio.Records) (any, error) {
		c := newRatingCounts()
		for i := range r.Len() {
			if v, ok := rating(r.Field(i, at[2])); ok {
				c.add(v, 1)
			}
		}
		return c, nil
	}, func(result any) error {
		total.merge(result.(*ratingCounts))
		return nil
	})
	return total.scale(), err
}

// rating parses a finite number.
func rating(field []byte) (float64, bool) {
	v, ok := dataset.Number(string(field))
	return v, ok && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// locateRatings returns the positions of user, movie, rating and timestamp.
func (r release) locateRatings(file string, names []string) ([]int, error) {
	if r.columns == nil {
		return locate(file, names, ratingColumns)
	}
	if last := r.columns[len(r.columns)-1]; last >= len(names) {
		return nil, &dataset.InputError{File: file, Line: 1, Problem: fmt.Sprintf("the line has %d fields, want user, movie, rating and timestamp", len(names)), Remedy: "check that this is a MovieLens download"}
	}
	return r.columns, nil
}

// check returns an error if most rows had to be skipped: a model of the rest would not be
// one of the download.
func (s *ratings) check(file string) error {
	dropped := s.rows - s.kept
	if float64(dropped) <= max(strayRatings, mostlyDropped*float64(s.rows)) {
		return nil
	}
	why := s.dropped.sorted()[0]
	return &dataset.InputError{File: file, Problem: fmt.Sprintf("%d of %d rows cannot be used; the most frequent reason, in %d rows: %s (first: %s)", dropped, s.rows, why.Rows, why.Text, why.First),
		Remedy: "check that this is a MovieLens download, with the columns " + ratingFileShape}
}

// notices tells of another scale and of many skipped rows.
func (s *ratings) notices(scale ratingScale) (facts, warnings []string) {
	if scale != stars {
		facts = append(facts, fmt.Sprintf("The ratings are %v, not %v as in MovieLens; they are kept as they are.", scale, stars))
	}
	if dropped := s.rows - s.kept; float64(dropped) > warnDropped*float64(s.rows) {
		warnings = append(warnings, fmt.Sprintf("%d of %d rows were skipped; a model of the others may not suit the whole", dropped, s.rows))
	}
	return facts, warnings
}
