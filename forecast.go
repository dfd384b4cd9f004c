package kft

import (
	"context"
	"io"

	"github.com/kernel-fried-tensor/kft/forecast"
)

// Types of forecasts and backtests, documented in package forecast.
type (
	ForecastOptions = forecast.Options         // the series, the periods and the columns of a forecast
	ForecastSummary = forecast.Summary         // describes a forecast that was written
	BacktestOptions = forecast.BacktestOptions // the origins of a backtest
	Backtest        = forecast.Result          // what forecasts of rolling origins measured
	BacktestOrigin  = forecast.Origin
	BacktestScore   = forecast.Score
)

// Forecast writes the forecasts of the periods after the last training period to w, as a
// table in long form: the columns that identify a cell, mean, median, lo-90 and hi-90, and
// what opt adds. With opt.By the rows are totals by group.
func (m *Model) Forecast(ctx context.Context, w io.Writer, opt ForecastOptions) (ForecastSummary, error) {
	return forecast.Write(ctx, m.fitted, w, opt)
}

// FuturePeriods returns the mode of time and the ids of the next periods after the last
// training period, at most as many as the model was trained on. [Model.Predict] forecasts
// cells with these ids. A model without series is a [FieldError].
func (m *Model) FuturePeriods(horizon int) (mode int, ids []string, err error) {
	return forecast.Periods(m.fitted, horizon)
}

// PeriodProblem says why the period of a cell is not one of the model, such as a date in
// another format, so that an average period is predicted. It is "" for other periods.
func (m *Model) PeriodProblem(cell Cell) string { return m.fitted.PeriodProblem(cell) }

// RunBacktest trains a model at each of several origins on the rows up to it, and measures
// the forecasts of the following periods beside those of simple formulas. The model is nil
// unless opt asks for one, which is trained on all rows and calibrated on the forecasts.
func RunBacktest(ctx context.Context, s Spec, source Source, opt BacktestOptions) (*Backtest, *Model, error) {
	result, fitted, err := forecast.Backtest(ctx, s, source, opt)
	if err != nil || fitted == nil {
		return result, nil, err
	}
	return result, &Model{fitted}, nil
}
