package conformal

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestRecordRoundTrip(t *testing.T) {
	t.Parallel()
	z, location, group := skewedRows(3, 5000, 4)
	split, _ := NewSplit(2, z)
	mean, _ := NewByMean(2, z, location, 10)
	entity, _ := NewByEntity(2, z, group)
	spread, _ := NewBySpread(nil, 2, z, location, spreads(location), 5, 3)
	for _, want := range []*Correction{split, mean, spread, entity} {
		got, err := FromRecord(want.Record())
		if err != nil {
			t.Fatal(want.Grouping(), err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the correction from the record differs", want.Grouping())
		}
	}
}

func TestInvalidRecords(t *testing.T) {
	t.Parallel()
	z, location, group := skewedRows(3, 5000, 4)
	entity, err := NewByEntity(2, z, group)
	if err != nil {
		t.Fatal(err)
	}
	spread, err := NewBySpread(nil, 2, z, location, spreads(location), 3, 3)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		damage func(*Record)
		want   string
	}{
		"parts":      {func(r *Record) { r.Parts = r.Parts[:2] }, "parts of 2 bins in a correction by mean with 2 edges"},
		"no parts":   {func(r *Record) { r.Parts = nil }, "edges of the spread, but no parts"},
		"many parts": {func(r *Record) { r.Parts[2] = 1 << 40 }, "a bin has 1099511627776 parts, with 2 edges left"},
		"no part":    {func(r *Record) { r.Parts[1] = 0 }, "a bin has 0 parts"},
		"left over":  {func(r *Record) { r.Spread = append(r.Spread, 9) }, "1 edges of the spread do not belong"},
		"order":      {func(r *Record) { r.Spread[0] = 9 }, "edges of the spread are not sorted"},
		"group":      {func(r *Record) { r.Group[8] = 9 }, "no group 9 in a correction by mean with 9 bins"},
	} {
		r := spread.Record()
		c.damage(&r)
		if _, err := FromRecord(r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, c.want)
		}
	}
	for name, c := range map[string]struct {
		damage func(*Record)
		want   string
	}{
		"grouping": {func(r *Record) { r.Grouping = "moon" }, `unknown grouping "moon"`},
		"short":    {func(r *Record) { r.Knots = r.Knots[:10] }, "too few knots"},
		"long":     {func(r *Record) { r.Knots = append(r.Knots, 9) }, "1 knots do not belong"},
		"order":    {func(r *Record) { r.Knots[0] = 99 }, "distribution 0: the knots are not sorted"},
		"NaN":      {func(r *Record) { r.Knots[3] = math.NaN() }, "a knot is NaN"},
		"sizes":    {func(r *Record) { r.Size = nil }, "0 distributions for 4 groups and a pool"},
		"groups":   {func(r *Record) { r.Group[0] = -1 }, "groups are not sorted"},
		"edges":    {func(r *Record) { r.Edges = []float64{2, 1} }, "edges are not sorted"},
	} {
		r := entity.Record()
		c.damage(&r)
		if _, err := FromRecord(r); err == nil || !strings.HasPrefix(err.Error(), "conformal correction: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, c.want)
		}
	}
}
