package main

// plotCommand draws pictures.
type plotCommand struct {
	Calibration plotCalibrationCommand `cmd:"" help:"Plot the coverage of intervals by the ids of two modes."`
	Forecast    plotForecastCommand    `cmd:"" help:"Plot the history and the forecasts of series."`
	Study       plotStudyCommand       `cmd:"" help:"Plot the trials of a study and the importance of its parameters."`
}
