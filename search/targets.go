package search

import (
	"context"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/search/power"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// chooseTransforms returns the filled specification of several targets with a scale for
// each of them. An automatic one is the power that suits the target alone.
func chooseTransforms(ctx context.Context, s spec.Spec, source tableio.Source, opt train.Options) (spec.Spec, error) {
	if source.IsZero() {
		source = tableio.Files(s.Data.Files...)
	}
	if !source.Repeatable() {
		return s, fielderr.Errorf("data.files", "several targets need a table that can be read more than once; save the stream to a file")
	}
	transforms := strings.Split(s.Transform, ",")
	var chosen []string
	for k, target := range s.Data.Targets() {
		one := s.Clone()
		one.Data.Target, one.Transform = target, transforms[k%len(transforms)]
		if one.Transform == spec.Auto || one.Transform == "power" {
			one.Data.Modes = nil
			for _, text := range s.Data.Modes {
				if m, err := dataset.ParseMode(text); err == nil && !m.Target() {
					one.Data.Modes = append(one.Data.Modes, text)
				}
			}
			one.Transform = targetscale.Identity.String()
			data, err := train.Read(ctx, one, source, opt)
			if err != nil {
				return s, err
			}
			if one, _, err = power.Choose(ctx, one, data, opt); err != nil {
				return s, err
			}
		}
		chosen = append(chosen, one.Transform)
	}
	s.Transform = strings.Join(chosen, ",")
	return s, nil
}
