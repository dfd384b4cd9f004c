package forecast

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// Options specify what to forecast. Errors about a field carry its path: horizon, only,
// active, level, quantiles, draws, by or future.
type Options struct {
	Horizon int // number of periods; not needed with Future

	// Only restricts the series to some ids, as in "store=2106,2113" or
	// "item.vendor=260". Entries of one mode are alternatives; different modes must all
	// match. An id without series, known from its side row, takes every combination of
	// the other modes' ids that has a series.
	Only []string
	// Active restricts the series to those with a training row in this many last
	// periods; 0 for all series.
	Active int

	Levels    []float64 // of central intervals, in percent; nil for 90
	Quantiles []float64 // levels of quantiles between 0 and 1, increasing
	Draws     int       // joint draws to write; totals use 200 if it is 0

	// By adds the cells up: "total", or modes and groups as in "store" or
	// "store,item.vendor". Totals are sums of joint draws, so they have the right spread
	// and add up across groups, draw by draw.
	By string
	// Side are side tables, written as in a specification: store=new_stores.csv. Ids
	// without training rows are forecast from their side rows, if the model uses the side
	// information of the mode, and By and Only may use all their columns as groups, beside
	// those of the model's terms. A name that is a key of Tables denotes that source.
	Side   []string
	Tables map[string]tableio.Source

	// Future is a table of the cells to forecast, with the columns of all modes, and of
	// covariates whose future values are known. The zero source means all periods of the
	// horizon for every series.
	Future tableio.Source

	Threads int            // 0 for as many as the process may use
	Format  tableio.Format // of Future
	Output  tableio.Output // the zero value is text

	groups map[string]sideinfo.Spec // side tables by mode
}

// A Summary describes a forecast that was written.
type Summary struct {
	Series   int    // series that were forecast; 0 with Options.Future
	Cells    int    // cells that were predicted
	Rows     int    // rows that were written
	First    string // id of the first period
	Last     string // id of the last period
	Own      bool   // whether the periods are those after the end of each series
	Draws    int    // draws that totals were computed from
	Warnings []string
}

const (
	defaultLevel = 90
	totalDraws   = 200
)

// Periods returns the mode of time and the ids of the periods of a horizon.
func Periods(m *model.Model, horizon int) (mode int, ids []string, err error) {
	if err := (&Options{Horizon: horizon, Levels: []float64{}}).check(m); err != nil {
		return 0, nil, err
	}
	series := m.Series()
	for h := range horizon {
		id, err := series.Line.ID(series.End + 1 + int64(h))
		if err != nil {
			return 0, nil, fielderr.Errorf("data.modes", "%w", err)
		}
		ids = append(ids, id)
	}
	return series.Time, ids, nil
}

// setDecimal makes numbers read and written as in the table of the fit, unless the options say
// otherwise. Forecasts with decimal commas need another delimiter than a comma: that of
// the specification, or a semicolon.
func (o *Options) setDecimal(m *model.Model) {
	data := m.Spec().Data
	if o.Format.Numbers.Plain() {
		o.Format.Numbers, _ = dataset.ParseNumberFormat(data.Decimal, data.Thousands) // the specification is valid
	}
	if o.Format.Numbers.Decimal != ',' || !o.Future.IsZero() && o.Future.Repeatable() && o.By == "" {
		return // rows are added to a table with a delimiter of its own
	}
	o.Output.Comma = true
	if o.Output.Delimiter == 0 {
		var given tableio.Format
		_ = given.SetDelimiter(data.Delimiter)
		if o.Output.Delimiter = cmp.Or(o.Format.Delimiter, given.Delimiter); o.Output.Delimiter == 0 {
			o.Output.Delimiter = ';'
		}
	}
}

// check returns the first problem of the options, and fills in defaults.
func (o *Options) check(m *model.Model) error {
	series := m.Series()
	if series == nil {
		return fielderr.Errorf("data.modes", "the model has no list of series, because it has no mode of time, hardly any series has two rows, or an earlier version made it; fit a model with a mode such as time=year+month or date")
	}
	if err := series.Line.OnePeriodEach(); err != nil {
		return fielderr.Errorf("data.modes", "%w, and fit the model again", err)
	}
	if o.Future.IsZero() || o.Horizon != 0 {
		steps := int(series.End) + 1
		switch {
		case o.Horizon < 1:
			return fielderr.Errorf("horizon", "the horizon is %d, expected a number of periods from 1 on", o.Horizon)
		case o.Horizon > steps:
			return fielderr.Errorf("horizon", "the horizon of %s is longer than the %d that the model was trained on; use a horizon of %d or less", plural.Count(o.Horizon, "period"), steps, steps)
		}
	}
	if !o.Future.IsZero() && (len(o.Only) > 0 || o.Active != 0) {
		return fielderr.Errorf("future", "a table of future cells already says which series are forecast; remove the rows of the others from it instead of choosing series")
	}
	if o.Active < 0 {
		return fielderr.Errorf("active", "%d is not a number of periods; use 0 for all series", o.Active)
	}
	if o.Levels == nil {
		o.Levels = []float64{defaultLevel}
	}
	for i, level := range o.Levels {
		if !(level >= 1 && level < 100) {
			return fielderr.Errorf("level", "%g is not a level of an interval in percent; use numbers from 1 to below 100, such as 80,95", level)
		}
		if slices.Contains(o.Levels[:i], level) {
			return fielderr.Errorf("level", "the level %g appears twice", level)
		}
	}
	if o.Draws < 0 || o.Draws > model.MaxSamples {
		return fielderr.Errorf("draws", "%d is not a number of draws; use 1 to %d", o.Draws, model.MaxSamples)
	}
	if o.By != "" && o.Draws > 0 {
		for _, p := range o.quantileLevels() {
			if needed := conformal.RowsNeeded(math.Abs(2*p - 1)); o.Draws < needed {
				return fielderr.Errorf("draws", "%d draws of a total cannot give its quantile at level %.4g, which needs %d", o.Draws, p, needed)
			}
		}
	}
	levels := slices.Clone(o.quantileLevels())
	slices.Sort(levels)
	if err := m.CheckQuantiles(slices.Compact(levels)); err != nil {
		return err
	}
	return m.CheckQuantiles(o.Quantiles)
}

// quantileLevels returns the levels of the ends of the intervals, then of the quantiles.
func (o *Options) quantileLevels() []float64 {
	var out []float64
	for _, level := range o.Levels {
		tail := math.Round((50-level/2)*1e9) / 1e11
		out = append(out, tail, 1-tail)
	}
	return append(out, o.Quantiles...)
}

// columns returns the names of the added columns: mean, median, lo-90, hi-90, quantiles and
// draws. A name that a column of the table has gets the prefix kft_.
func (o *Options) columns(taken []string) []string {
	names := []string{"mean", "median"}
	for _, level := range o.Levels {
		text := strconv.FormatFloat(level, 'g', -1, 64)
		names = append(names, "lo-"+text, "hi-"+text)
	}
	for _, p := range o.Quantiles {
		names = append(names, "q"+strconv.FormatFloat(p, 'g', -1, 64))
	}
	for k := range o.Draws {
		names = append(names, fmt.Sprintf("sample_%d", k+1))
	}
	for i := range names {
		for slices.Contains(taken, names[i]) {
			names[i] = "kft_" + names[i]
		}
	}
	return names
}
