// Package forecast predicts the periods after the last one that a model was trained on:
// for all its series or chosen ones, with intervals, quantiles, joint draws and totals by
// group. [Backtest] measures such forecasts on rolling origins.
//
// A series is a combination of ids of the modes other than time that has training rows;
// package panel lists them. A horizon is a number of periods ahead, 1 for the period after
// the last training period. Package timeline numbers the periods.
package forecast
