package main

import (
	"context"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/serve"
)

// reasons answers /explain.
type reasons struct {
	model *kft.Model
	with  *kft.Explainer
}

// newReasons returns what explains the predictions of a model.
func newReasons(m *kft.Model) (serve.Explainer, error) {
	x, err := m.Explainer()
	return reasons{m, x}, err
}

// Explain implements serve.Explainer.
func (r reasons) Explain(ctx context.Context, cells []kft.Cell, changes []string) ([]any, error) {
	var opt kft.ExplainOptions
	for _, text := range changes {
		change, err := r.model.ParseChange(text)
		if err != nil {
			return nil, err
		}
		opt.WhatIf = append(opt.WhatIf, change)
	}
	explanations, err := r.with.Cells(ctx, cells, opt)
	out := make([]any, len(explanations))
	for i := range out {
		out[i] = explanations[i]
	}
	return out, err
}
