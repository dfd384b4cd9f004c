package forecast

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/model"
)

// see counts the cells of a batch, whose codes belong to m, and their horizons.
func (f *forecaster) see(m *model.Model, b *tableio.Batch) {
	horizons := f.m.Horizons(b.Codes, b.ID)
	if len(horizons) == 0 {
		return
	}
	prior := 0
	if m.UsesMode(f.time) {
		for _, code := range b.Codes[f.time] {
			if m.Origin(f.time, code) == model.FromPrior {
				prior++
			}
		}
	}
	unseen, example := f.unseen(m, b)
	low, high := slices.Index(horizons, slices.Min(horizons)), slices.Index(horizons, slices.Max(horizons))
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.sum.Cells += b.Len()
	f.prior += prior
	f.note(unseen, example)
	if f.nearest == 0 || horizons[low] < f.nearest {
		f.nearest, f.sum.First = horizons[low], b.ID(f.time, low)
	}
	if horizons[high] > f.farthest {
		f.farthest, f.sum.Last = horizons[high], b.ID(f.time, high)
	}
}

// unseen returns the number of rows with an id, other than a time, that the model knows
// nothing about, and the first one.
func (f *forecaster) unseen(m *model.Model, b *tableio.Batch) (n int, example string) {
	modes := f.m.Covariates().Columns()
	for i := range b.Len() {
		for k := range modes {
			if k == f.time || !m.UsesMode(k) || m.Origin(k, b.Codes[k][i]) != model.FromPrior {
				continue
			}
			if n++; n == 1 {
				example = fmt.Sprintf("%s %q", modes[k].Name, b.ID(k, i))
			}
			break
		}
	}
	return n, example
}

// note adds rows with unseen ids.
func (f *forecaster) note(unseen int, example string) {
	if f.unknown += unseen; f.example == "" {
		f.example = example
	}
}

// seen is what a forecaster knows of the cells of a process.
type seen struct {
	Cells, Prior      int
	Nearest, Farthest int32
	First, Last       string
	Unknown           int
	Example           string
}

// warnings returns what a user should know about the forecasts.
func (f *forecaster) warnings() []string {
	var out []string
	if !f.m.UsesLags() && f.prior > 0 {
		out = append(out, f.m.SameFuture(f.time))
	}
	if f.unknown > 0 {
		out = append(out, fmt.Sprintf("%d of %d forecasts: an id is neither in the training data nor in a side table, such as %s, and counts as an average one", f.unknown, f.sum.Cells, f.example))
	}
	if note := f.ended(); note != "" {
		out = append(out, note)
	}
	info := f.m.Uncertainty()
	if byTime := strings.HasPrefix(f.m.Spec().Split, "time:"); info.Conformal != nil && info.Conformal.Kind != "horizon" && !byTime {
		out = append(out, "the intervals were calibrated on rows of the same periods as the training rows, so they may be too narrow for forecasts; fit with a split by time, which calibrates them by horizon")
	} else if info.Conformal != nil && info.Conformal.Horizons > 0 && int(f.farthest) > info.Conformal.Horizons {
		out = append(out, fmt.Sprintf("intervals are calibrated up to %s ahead; further ahead, they widen as the model predicts, without calibration", plural.Count(info.Conformal.Horizons, "period")))
	}
	return out
}

// ended says that most series have no row in the last season, or in twice the horizon: their
// forecasts do not follow their last rows. Totals, which do not show it, come with more.
func (f *forecaster) ended() string {
	series := f.m.Series()
	if f.o.Active > 0 || !f.o.Future.IsZero() || series.Len() < 2 || series.Own {
		return ""
	}
	season := 0
	for _, c := range series.Line.Cycles() {
		season = max(season, int(c.Periods))
	}
	before := func(window int) (n int) {
		for _, last := range series.Last {
			if int64(last) <= series.End-int64(window) {
				n++
			}
		}
		return n
	}
	window, part := max(2*f.o.Horizon, season), max(2*f.o.Horizon, season/2)
	n := before(window)
	if f.o.By != "" && len(f.o.Only) == 0 {
		return inTotals(f.m, before(part), part)
	}
	if 2*n <= series.Len() {
		return ""
	}
	return fmt.Sprintf("%d of %d series have no row in the last %s before the end of the table, after which all forecasts begin; they are forecasts of series that have ended; if each series has an end of its own, fit the model with data.ends set to series",
		n, series.Len(), plural.Count(window, "period"))
}
