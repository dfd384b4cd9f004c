package kft

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/fit"
	"github.com/kernel-fried-tensor/kft/model"
)

// A Choice is a scale and a likelihood that were tried where the specification
// leaves them open. The one of least CRPS on the valid part is taken.
type Choice struct {
	Transform  string   `json:"transform"`
	Likelihood string   `json:"likelihood"`
	CRPS       *float64 `json:"crps"` // of the valid part; nil where the data does not allow it
	Taken      bool     `json:"taken"`
}

// open tells whether the specification leaves something to be chosen.
func open(spec Spec) bool {
	return spec.Transform == "auto" || spec.Uncertainty.Likelihood == "auto"
}

// candidates lists the specifications that fill in what is left open.
func candidates(spec Spec) []Spec {
	transforms, likelihoods := []string{spec.Transform}, []string{spec.Uncertainty.Likelihood}
	if spec.Transform == "auto" {
		transforms = model.Transforms()
	}
	if spec.Uncertainty.Likelihood == "auto" {
		likelihoods = model.Likelihoods()
	}
	var all []Spec
	for _, l := range likelihoods {
		c := withLikelihood(spec, l)
		if c.Uncertainty.Counts() {
			all = append(all, c)
			continue
		}
		for _, t := range transforms {
			c.Transform = t
			all = append(all, c)
		}
	}
	return all
}

// withLikelihood is the specification with a likelihood. Counts have a link and a
// noise of their own.
func withLikelihood(spec Spec, likelihood string) Spec {
	spec.Uncertainty.Likelihood = likelihood
	if spec.Uncertainty.Counts() {
		spec.Transform, spec.Uncertainty.Noise = "identity", "constant"
	}
	return spec
}

// choose fits every candidate and returns the best.
func choose(ctx context.Context, spec Spec, opt Options) (*Model, *Report, error) {
	if slices.Contains(spec.Data.Files, "-") {
		return nil, nil, errors.New("a scale or likelihood that is left open (auto) needs the table several times: give it as a file, not by standard input")
	}
	all := candidates(spec)
	var best *Model
	var report *Report
	var choices []Choice
	least, taken := math.Inf(1), -1
	folder := opt.Checkpoint
	opt.TimeBudget /= time.Duration(len(all))
	for i, c := range all {
		if folder != "" {
			opt.Checkpoint = filepath.Join(folder, c.Transform+"-"+c.Uncertainty.Likelihood)
		}
		if opt.Progress != nil {
			opt.Progress(Event{Stage: "choose", Note: fmt.Sprintf("trying the scale %s with the %s likelihood, %d of %d", c.Transform, c.Uncertainty.Likelihood, i+1, len(all))})
		}
		choices = append(choices, Choice{Transform: c.Transform, Likelihood: c.Uncertainty.Likelihood})
		m, r, err := fitOne(ctx, c, opt)
		var domain *model.DomainError
		var diverged *fit.DivergedError
		switch {
		case errors.As(err, &domain), errors.As(err, &diverged):
			continue // the others may do
		case err != nil:
			return nil, nil, fmt.Errorf("scale %s, %s likelihood: %w", c.Transform, c.Uncertainty.Likelihood, err)
		case r.Valid.Calibration == nil:
			return nil, nil, errors.New("a scale or likelihood that is left open (auto) is chosen on the valid part, and there is none; give one by --split, or name the scale and the likelihood")
		}
		crps := float64(r.Valid.Calibration.CRPS)
		choices[i].CRPS = &crps
		if crps < least {
			best, report, least, taken = m, r, crps, i
		}
		if ctx.Err() != nil {
			break
		}
	}
	if best == nil {
		return nil, nil, errors.New("no scale or likelihood can take the target")
	}
	choices[taken].Taken = true
	report.Choices = choices
	best.about.Choices = choices
	return best, report, nil
}

// fitOne fits a specification that leaves nothing open.
func fitOne(ctx context.Context, spec Spec, opt Options) (*Model, *Report, error) {
	path, err := cpu.Choose()
	if err != nil {
		return nil, nil, err
	}
	r := &fitting{spec: spec, opt: opt, engine: cpu.New(path, opt.Threads), seconds: map[string]float64{}, began: time.Now()}
	return r.run(ctx)
}
