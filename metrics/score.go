package metrics

import "encoding/json"

// A Score measures the predictions of a set of rows. R2 and RMSE measure the predicted
// means, MAE the predicted medians, and R2Scale the predictions on the modelling
// scale. An undefined measure (no rows, or a constant target) is NaN.
type Score struct {
	N       int
	R2      float64
	RMSE    float64
	MAE     float64
	R2Scale float64

	// Bias is the ratio of the predicted to the actual total. It is NaN for a target
	// with negative values; MeanError is the mean of predicted minus actual.
	Bias      float64
	MeanError float64
	// BiasByDecile has the bias by size of the prediction; nil if it was not measured.
	BiasByDecile []DecileBias

	// Binary measures the probabilities of a target that is 0 or 1; nil for others.
	Binary *Binary

	// Censored measures a target with censored values; nil for others.
	Censored *Censored

	// Calibration measures the predictive distributions; nil if it was not requested.
	Calibration *Calibration
}

// scoreJSON is the JSON form of a score: its own fields, followed by the fields of the
// calibration on the same level.
type scoreJSON struct {
	N       int    `json:"n"`
	R2      Number `json:"r2"`
	RMSE    Number `json:"rmse"`
	MAE     Number `json:"mae"`
	R2Scale Number `json:"r2_scale"`

	Bias         Number       `json:"bias"`
	MeanError    Number       `json:"mean_error"`
	BiasByDecile []DecileBias `json:"bias_by_decile,omitempty"`
	Binary       *Binary      `json:"binary,omitempty"`
	Censored     *Censored    `json:"censored,omitempty"`
	*Calibration
}

// MarshalJSON writes undefined measures as null.
func (s Score) MarshalJSON() ([]byte, error) {
	return json.Marshal(scoreJSON{s.N, Number(s.R2), Number(s.RMSE), Number(s.MAE), Number(s.R2Scale),
		Number(s.Bias), Number(s.MeanError), s.BiasByDecile, s.Binary, s.Censored, s.Calibration})
}

// UnmarshalJSON reads the output of MarshalJSON. Missing measures are NaN.
func (s *Score) UnmarshalJSON(data []byte) error {
	v := scoreJSON{R2: undefined, RMSE: undefined, MAE: undefined, R2Scale: undefined, Bias: undefined, MeanError: undefined}
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	*s = Score{v.N, float64(v.R2), float64(v.RMSE), float64(v.MAE), float64(v.R2Scale), float64(v.Bias), float64(v.MeanError), v.BiasByDecile, v.Binary, v.Censored, v.Calibration}
	if s.Calibration != nil {
		s.Calibration.N = v.N // JSON has only one "n", which decodes to the outer field
	}
	return nil
}
