package kft

import (
	"context"
	"io"

	"github.com/kernel-fried-tensor/kft/forecast"
)

// Types of forecasts, documented in package forecast.
type (
	// ForecastOptions specify the series, the periods and the columns of a forecast.
	ForecastOptions = forecast.Options
	// A ForecastSummary describes a forecast that was written.
	ForecastSummary = forecast.Summary
)

// Forecast writes the forecasts of the periods after the last training period to w, as a
// table in long form: the columns that identify a cell, mean, median, lo-90 and hi-90, and
// what opt adds. With opt.By the rows are totals by group.
func (m *Model) Forecast(ctx context.Context, w io.Writer, opt ForecastOptions) (ForecastSummary, error) {
	return forecast.Write(ctx, m.fitted, w, opt)
}
