package model

import (
	"math"

	"github.com/kernel-fried-tensor/kft/likelihood"
)

// Weights returns the number of weights.
func (m *Model) Weights() int { return m.field.Weights() }

// Terms describes each term, trains before series along time.
func (m *Model) Terms() []TermInfo {
	var terms []TermInfo
	for _, t := range m.field.Terms {
		info := TermInfo{Name: t.Name()}
		for _, c := range t.Cores {
			info.Cores = append(info.Cores, CoreInfo{Name: c.Name(), Variant: string(c.Variant), Entities: c.Slices.N - 1, Left: c.Slices.Left, Right: c.Slices.Right})
		}
		terms = append(terms, info)
	}
	for _, s := range m.field.Series {
		terms = append(terms, TermInfo{Name: s.Label, Cores: []CoreInfo{}, Series: s.Series()})
	}
	return terms
}

// TermInfo describes a term of a model: a train by its cores, or series along time.
type TermInfo struct {
	Name   string     `json:"name"`
	Cores  []CoreInfo `json:"cores"`            // of a train
	Series int        `json:"series,omitempty"` // number of series of a term such as series(store; time)
}

// CoreInfo describes a core: a Left x Right matrix for each entity.
type CoreInfo struct {
	Name     string `json:"name"`
	Variant  string `json:"variant"`
	Entities int    `json:"entities"`
	Left     int    `json:"left"`
	Right    int    `json:"right"`
}

// UncertaintyInfo describes how a model quantifies uncertainty.
type UncertaintyInfo struct {
	Inference  string `json:"inference"`
	Likelihood string `json:"likelihood"`
	// Size of a negative binomial distribution, whose variance is mean + mean^2/Size.
	Size      float64        `json:"size,omitempty"`
	Zero      float64        `json:"zero,omitempty"`   // share of further zeros of zero-inflated counts
	Hurdle    *Hurdle        `json:"hurdle,omitempty"` // odds of a count above 0
	Levels    int            `json:"levels,omitempty"` // of an ordinal target
	DF        float64        `json:"df,omitempty"`     // of a Student distribution, whose scale is the SD of the noise
	Noise     *NoiseInfo     `json:"noise,omitempty"`  // of the gaussian likelihood
	Conformal *ConformalInfo `json:"conformal,omitempty"`
	Means     *MeansInfo     `json:"mean_correction,omitempty"`
	Heaping   []string       `json:"heaping,omitempty"` // entities that prefer some values, "all" for all rows
	// Mixed is what means of forecasts are mixed of, as in "0.8 model", and MixedLargest that
	// of the largest ones; nil for the model alone.
	Mixed        []string `json:"mixed_means,omitempty"`
	MixedLargest []string `json:"mixed_largest_means,omitempty"`
	// Moved is what forecasts are moved by on the model's scale, as in "0.1 last value".
	Moved []string `json:"moved_forecasts,omitempty"`
	// Pulled is the share that formulas have of forecasts on the model's scale, as in "0.3 last value", and how much
	// forecasts rise there, as in "+0.01 per month".
	Pulled []string `json:"pulled_forecasts,omitempty"`
	// Shared is what errors of forecasts have in common, as in "0.031 of the variance: store in one period".
	Shared []string `json:"shared_errors,omitempty"`
}

// Hurdle is the distribution of counts of two parts.
type Hurdle = likelihood.Hurdle

// NoiseInfo describes the noise on the transform's scale: its standard deviation SD;
// the range Least to Most if entities differ; SD mean^(Exponent/2) if it is a power
// of the mean.
type NoiseInfo struct {
	Kind     string  `json:"kind"`
	SD       float64 `json:"sd"`
	Least    float64 `json:"least,omitempty"`
	Most     float64 `json:"most,omitempty"`
	Exponent float64 `json:"exponent,omitempty"`
}

// ConformalInfo describes a conformal correction: the rows it was computed from,
// and how many groups have their own score distribution.
type ConformalInfo struct {
	Kind   string `json:"kind"`
	Rows   int    `json:"rows"`
	Groups int    `json:"groups"`

	Horizons int `json:"horizons,omitempty"` // periods ahead that have a factor of their own
}

// MeansInfo describes a correction of means: the smallest and the largest factor, or
// shift for a target that may be negative, by which predicted means change.
type MeansInfo struct {
	Kind  string  `json:"kind"` // factor or shift
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
}

// Uncertainty describes how the model quantifies uncertainty.
func (m *Model) Uncertainty() UncertaintyInfo {
	u := &m.noise
	info := UncertaintyInfo{Inference: m.spec.Uncertainty.Inference, Likelihood: u.Likelihood()}
	switch {
	case u.Count() != nil || u.Finite() != nil:
		switch {
		case u.Negative != nil:
			info.Size = u.Negative.Size
		case u.Inflated != nil:
			info.Size, info.Zero = u.Inflated.Size, u.Inflated.Zero
		case u.Hurdle != nil:
			info.Size, info.Hurdle = u.Hurdle.Size, u.Hurdle
		}
		if u.Ordinal != nil {
			info.Levels = len(u.Ordinal.Levels)
		}
	case u.Student != nil:
		info.DF, info.Noise = u.Student.DF, &NoiseInfo{Kind: "constant", SD: math.Sqrt(u.Student.Variance)}
	case u.Entity != nil:
		noise := &NoiseInfo{Kind: m.spec.Uncertainty.Noise, SD: math.Sqrt(u.Entity.Variance)}
		if u.Power != nil {
			noise.SD, noise.Exponent = math.Sqrt(u.Power.Scale*u.Entity.Variance), u.Power.Exponent
		}
		least, most := noise.SD, noise.SD
		for _, f := range u.Entity.Modes {
			low, high := f.Unseen, f.Unseen
			for _, v := range f.ByCode {
				low, high = min(low, v), max(high, v)
			}
			least, most = least*math.Sqrt(low), most*math.Sqrt(high)
		}
		noise.Least, noise.Most = least, most
		info.Noise = noise
	case u.Power != nil:
		info.Noise = &NoiseInfo{Kind: "power", SD: math.Sqrt(u.Power.Scale), Exponent: u.Power.Exponent}
	default:
		info.Noise = &NoiseInfo{Kind: "constant", SD: math.Sqrt(u.Constant.Variance)}
	}
	if m.correction != nil {
		info.Conformal = &ConformalInfo{Kind: m.spec.Uncertainty.Conformal, Rows: m.correction.Rows(), Groups: m.correction.Groups(), Horizons: len(m.correction.Factors())}
	}
	info.Means = meansInfo(m.means)
	info.Heaping = m.HeapedBy()
	info.Mixed, info.MixedLargest = m.blend.Parts()
	info.Moved, info.Pulled = m.blend.Moves(), m.blend.Pulls()
	if m.copula != nil {
		info.Shared = m.copula.Parts(func(key int) string { return m.modes[m.series.Keys[key]].Name })
	}
	return info
}
