package kft

import (
	"math"
	"strings"
)

// UncertaintyInfo describes how a model says what is not known.
type UncertaintyInfo struct {
	Inference  string `json:"inference"`
	Likelihood string `json:"likelihood"`
	// Size of a negative binomial law, whose variance is mean + mean^2/Size.
	Size      float64        `json:"size,omitempty"`
	Noise     *NoiseInfo     `json:"noise,omitempty"` // of the gaussian likelihood
	Conformal *ConformalInfo `json:"conformal,omitempty"`
}

// NoiseInfo describes noise on the transform's scale: of standard deviation SD;
// between Least and Most where entities differ; SD mean^(Exponent/2) where it is a
// power of the mean.
type NoiseInfo struct {
	Kind     string  `json:"kind"`
	SD       float64 `json:"sd"`
	Least    float64 `json:"least,omitempty"`
	Most     float64 `json:"most,omitempty"`
	Exponent float64 `json:"exponent,omitempty"`
}

// ConformalInfo describes a conformal layer: what it was made of, and how many
// groups have a law of their own.
type ConformalInfo struct {
	Kind   string `json:"kind"`
	Rows   int    `json:"rows"`
	Groups int    `json:"groups"`
}

// Uncertainty describes how the model says what is not known.
func (m *Model) Uncertainty() UncertaintyInfo {
	u := &m.uncertain
	info := UncertaintyInfo{Inference: m.spec.Uncertainty.Inference, Likelihood: "gaussian"}
	switch {
	case u.Poisson != nil:
		info.Likelihood = "poisson"
	case u.Negative != nil:
		info.Likelihood, info.Size = "negative-binomial", u.Negative.Size
	case u.Entity != nil:
		noise := &NoiseInfo{Kind: "entity:" + strings.Join(m.spec.Uncertainty.NoiseModes(), ","), SD: math.Sqrt(u.Entity.Variance)}
		least, most := u.Entity.Variance, u.Entity.Variance
		for _, f := range u.Entity.Modes {
			low, high := f.Unseen, f.Unseen
			for _, v := range f.Of {
				low, high = min(low, v), max(high, v)
			}
			least, most = least*low, most*high
		}
		noise.Least, noise.Most = math.Sqrt(least), math.Sqrt(most)
		info.Noise = noise
	case u.Power != nil:
		info.Noise = &NoiseInfo{Kind: "power", SD: math.Sqrt(u.Power.Scale), Exponent: u.Power.Exponent}
	default:
		info.Noise = &NoiseInfo{Kind: "constant", SD: math.Sqrt(u.Constant.Variance)}
	}
	if u.layer != nil {
		info.Conformal = &ConformalInfo{Kind: m.spec.Uncertainty.Conformal, Rows: u.layer.Rows(), Groups: len(u.layer.Record().Group)}
	}
	return info
}
