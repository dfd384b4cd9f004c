package fitdata

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
)

// readTargets reads the table once for each of several targets and stacks the results: a
// row becomes one observation per target that it has, with the target as its last mode.
func readTargets(ctx context.Context, targets []string, source tableio.Source, schema dataset.Schema, format tableio.Format, threads int) (*dataset.Table, error) {
	var all *dataset.Table
	for k, name := range targets {
		schema.Target = name
		one, err := tableio.Read(ctx, source, schema, format, threads)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = one
			all.Dicts = append(slices.Clone(one.Dicts), dataset.NewDict(targets))
			all.Modes = append(slices.Clone(one.Modes), dataset.TargetMode(targets))
			all.Row, all.Low = sourceRows(one), lowOf(one)
			all.Codes = append(all.Codes, slices.Repeat([]int32{0}, one.Len()))
			continue
		}
		stack(all, one, int32(k))
	}
	return all, nil
}

// stack appends the observations of target k. Ids that the table does not have yet are
// added.
func stack(all, one *dataset.Table, k int32) {
	first := int32(all.Len())
	for m, codes := range one.Codes {
		known := make([]int32, one.Dicts[m].Len())
		for c := range known {
			id := one.Dicts[m].ID(int32(c))
			code, found := all.Dicts[m].Code([]byte(id))
			if !found {
				code = all.Dicts[m].Add(id)
			}
			known[c] = code
		}
		for _, c := range codes {
			all.Codes[m] = append(all.Codes[m], known[c])
		}
	}
	last := len(all.Codes) - 1
	all.Codes[last] = append(all.Codes[last], slices.Repeat([]int32{k}, one.Len())...)
	all.Y, all.Low, all.W = append(all.Y, one.Y...), append(all.Low, lowOf(one)...), append(all.W, one.W...)
	all.Row, all.Part = append(all.Row, sourceRows(one)...), append(all.Part, one.Part...)
	for _, merged := range one.Merged {
		all.Merged = append(all.Merged, dataset.MergedRow{Row: merged.Row, Into: merged.Into + first})
	}
	all.Counts.Missing += one.Counts.Missing
	all.Counts.NoID, all.NoID = max(all.Counts.NoID, one.Counts.NoID), cmp.Or(all.NoID, one.NoID)
	all.Counts.ZeroWeight = max(all.Counts.ZeroWeight, one.Counts.ZeroWeight)
	all.Counts.Merged += one.Counts.Merged
}

func sourceRows(t *dataset.Table) []int32 {
	rows := make([]int32, t.Len())
	for k := range rows {
		rows[k] = int32(t.SourceRow(k))
	}
	return rows
}

func lowOf(t *dataset.Table) []float32 {
	if t.Low != nil {
		return t.Low
	}
	return make([]float32, t.Len())
}

// alignParts gives all targets of a row the part of its first one: a model is judged by
// rows of which it knows nothing.
func alignParts(t *dataset.Table, parts []dataset.Part) {
	first := make(map[int32]dataset.Part, len(parts))
	for k, row := range t.Row {
		if part, known := first[row]; known {
			parts[k] = part
		} else {
			first[row] = parts[k]
		}
	}
}

// standardise replaces the values of each target by those on its own scale, which is
// fitted to its training rows, and returns the scales.
func (d *Data) standardise(s spec.Spec, targets []string) error {
	t := &d.table
	transforms := strings.Split(s.Transform, ",")
	of := t.Codes[len(t.Codes)-1]
	for k, name := range targets {
		transform, err := targetscale.ParseTransform(transforms[k%len(transforms)])
		if err != nil {
			return err
		}
		var train, all []int
		for i, code := range of {
			if code == int32(k) {
				all = append(all, i)
				if d.split.Parts[i] == dataset.Train {
					train = append(train, i)
				}
			}
		}
		if len(train) == 0 {
			return fielderr.Errorf("data.target", "the target %s has no value in the training set; remove it, or change split", name)
		}
		rows := solver.Observations{Y: t.Y, Low: t.Low, W: t.W}.Select(train)
		scale, err := targetscale.FitScale(1, transform.WithUnit(rows.Y, rows.W), rows.Len(), rows.Target, rows.W)
		if err != nil {
			return fmt.Errorf("target %s: %w", name, err)
		}
		scale.NonNegative = s.Data.NonNegative != "no" && !slices.ContainsFunc(all, func(i int) bool { return t.Y[i] < 0 })
		values := make([]float32, len(all))
		if err := scale.ForwardEach(values, func(i int) float64 { return t.Target(all[i]) }); err != nil {
			var domain *targetscale.DomainError
			if errors.As(err, &domain) {
				err = fmt.Errorf("%s: data row %d, column %s: %w", d.source, t.SourceRow(all[domain.Position])+1, name, err)
			}
			return err
		}
		for i, at := range all {
			t.Y[at] = values[i]
		}
		d.targets = append(d.targets, model.Target{Name: name, Scale: scale})
	}
	t.Low = nil
	return nil
}

// OneTarget returns the data of one of several targets, without the mode of targets.
func (d *Data) OneTarget() *Data {
	table, last := d.table, len(d.table.Modes)-1
	table.Modes, table.Dicts = table.Modes[:last], table.Dicts[:last]
	return &Data{source: d.source, table: table, split: d.split}
}
