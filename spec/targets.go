package spec

import (
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// TargetName is the name of the mode of several targets.
const TargetName = "target"

// Targets returns the columns to predict: those of Target, separated by commas.
func (d Data) Targets() []string {
	if !strings.Contains(d.Target, ",") {
		return []string{d.Target}
	}
	names := strings.Split(d.Target, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

// SeveralTargets reports whether there is more than one column to predict.
func (s Spec) SeveralTargets() bool { return len(s.Data.Targets()) > 1 }

// addTargetMode adds the mode of several targets, after the other modes of a cell.
func (d *Data) addTargetMode() {
	targets := d.Targets()
	mode := dataset.TargetMode(targets).String()
	if len(targets) > 1 && len(d.Modes) > 0 && !slices.Contains(d.Modes, mode) {
		d.Modes = append(slices.Clone(d.Modes), mode)
	}
}

// fillTargets sets the defaults of several targets: a scale for each, and a noise for
// each, which weights their rows in the fit of a posterior.
func (s *Spec) fillTargets() {
	if !s.SeveralTargets() {
		return
	}
	u := &s.Uncertainty
	fill(&s.Transform, Auto)
	fill(&u.Likelihood, "gaussian")
	if u.Noise == "" && u.Likelihood == "gaussian" {
		u.Noise = "entity:" + TargetName
		bayesian := u.Bayesian() && u.Inference != "" || u.Inference == "" && s.Automatic() && s.Fit.Solver != "als"
		if bayesian && s.Fit.Solver != "adam" {
			fill(&u.NoiseUse, "fit")
		}
	}
}

// validateTargets reports target columns that cannot be stacked.
func (d Data) validateTargets(ps *Problems) {
	targets := d.Targets()
	own := dataset.TargetMode(targets).String()
	for i, text := range d.Modes {
		m, err := dataset.ParseMode(text)
		switch {
		case err != nil:
		case m.Target() && (len(targets) < 2 || text != own):
			ps.Addf(index("data.modes", i), "%s is the mode of several targets, which are given by data.target; remove it", text)
		case len(targets) > 1 && m.Name == TargetName && !m.Target():
			ps.Addf(index("data.modes", i), "the name %s is that of the mode of several targets; rename the mode, as in other=%s", TargetName, text)
		case len(targets) > 1 && m.Covariate():
			ps.Addf(index("data.modes", i), "%s describes cells, which several targets do not support yet; fit one model per target", text)
		}
	}
	if len(targets) < 2 {
		return
	}
	for i, name := range targets {
		if name == "" || slices.Contains(targets[:i], name) {
			ps.Addf("data.target", "%q has an empty or repeated column; name each target once, as in units,revenue", d.Target)
			break
		}
	}
	for _, other := range []struct{ path, column string }{{"data.weight", d.Weight}, {"data.exposure", d.Exposure}, {"data.censored", d.Censored}} {
		if other.column != "" && (other.path != "data.weight" || slices.Contains(targets, other.column)) {
			ps.Addf(other.path, "%s cannot be combined with several targets; fit one model per target", other.column)
		}
	}
	if d.Absent == "zero" {
		ps.Addf("data.absent", "zero cannot be combined with several targets; fit one model per target")
	}
}

// validateSeveralTargets reports a likelihood, a noise or a correction that several
// targets cannot share.
func (s Spec) validateSeveralTargets(ps *Problems) {
	if !s.SeveralTargets() {
		return
	}
	u := s.Uncertainty
	if u.Likelihood != "gaussian" {
		ps.Addf("uncertainty.likelihood", "several targets require the gaussian likelihood, each on its own scale; fit one model per target for %s", u.Likelihood)
	}
	if u.NoiseByPower() || u.Noise == Auto {
		ps.Addf("uncertainty.noise", "%s depends on the size of values, which several targets do not share; use entity:%s", u.Noise, TargetName)
	}
	if u.Conformal == "group:mean" || u.Conformal == "horizon" {
		ps.Addf("uncertainty.conformal", "%s cannot be combined with several targets; use group:%s, split or none", u.Conformal, TargetName)
	}
}
