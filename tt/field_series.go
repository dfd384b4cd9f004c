package tt

import (
	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt/seriesterm"
)

// addSeries adds the means of all series terms at cells to dst. prepared may be nil.
func (f *Field) addSeries(b backend.Backend, dst []float32, codes [][]int32, prepared []*seriesterm.Cells) {
	value := make([]float32, len(dst))
	for k, s := range f.Series {
		var cells *seriesterm.Cells
		if prepared != nil {
			cells = prepared[k]
		} else {
			cells = s.NewCells(b.Threads(), codes)
		}
		s.Moments(b.Threads(), cells, value, nil)
		for i, v := range value {
			dst[i] += v
		}
	}
}

// seriesMoments returns the moments of all series terms at cells, whose entities it adds to
// those found.
func (f *Field) seriesMoments(b backend.Backend, codes [][]int32, found *found) []Moments {
	var terms []Moments
	for _, s := range f.Series {
		m := Moments{Mean: make([]float32, len(codes[0])), Var: make([]float32, len(codes[0]))}
		cells := s.NewCells(b.Threads(), codes)
		found.add(s.Index, cells.Entity)
		s.Moments(b.Threads(), cells, m.Mean, m.Var)
		terms = append(terms, m)
	}
	return terms
}

// SeriesTime returns the mode of time of the series terms, or else of the cores along time,
// -1 if there are none.
func (f *Field) SeriesTime() int {
	if len(f.Series) > 0 {
		return f.Series[0].Time
	}
	if modes := f.TimeModes(); len(modes) > 0 {
		return modes[0]
	}
	return -1
}
