package train

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/baseline"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt"
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
		transform, err := predictive.ParseTransform(transforms[k%len(transforms)])
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
		scale, err := predictive.FitScale(1, transform.WithUnit(rows.Y, rows.W), rows.Len(), rows.Target, rows.W)
		if err != nil {
			return fmt.Errorf("target %s: %w", name, err)
		}
		scale.NonNegative = s.Data.NonNegative != "no" && !slices.ContainsFunc(all, func(i int) bool { return t.Y[i] < 0 })
		values := make([]float32, len(all))
		if err := scale.ForwardEach(values, func(i int) float64 { return t.Target(all[i]) }); err != nil {
			var domain *predictive.DomainError
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

// correlationRows is the number of observations from which a correlation of errors is
// estimated.
const correlationRows = 400_000

// sharedErrors returns a function for the number of observations of a row that carry as
// much information as one: 1 + (k-1) c, for k targets per row whose errors have the mean
// correlation c. Units and revenue of a row share most of their error, and would be counted
// twice otherwise.
func (r *run) sharedErrors() func(mean, squared []float32) float64 {
	if r.data.targets == nil {
		return func(_, _ []float32) float64 { return 1 }
	}
	train := r.part(dataset.Train)
	last := len(train.Codes) - 1
	at := map[string]int{}
	var cells [][]int32 // observations by cell
	key := make([]byte, 0, 4*last)
	for i := range train.Len() {
		key = key[:0]
		for _, codes := range train.Codes[:last] {
			key = binary.LittleEndian.AppendUint32(key, uint32(codes[i]))
		}
		hash := fnv.New32a()
		hash.Write(key)
		if hash.Sum32()%uint32(1+train.Len()/correlationRows) != 0 {
			continue
		}
		k, known := at[string(key)]
		if !known {
			k = len(cells)
			at[string(key)], cells = k, append(cells, nil)
		}
		cells[k] = append(cells[k], int32(i))
	}
	scale := r.model.Scale()
	return func(mean, squared []float32) float64 {
		k := len(r.data.targets)
		size := make([]float64, k) // summed squared errors by target
		for i, e := range squared {
			size[train.Codes[last][i]] += float64(e)
		}
		rows := make([]float64, k)
		for _, code := range train.Codes[last] {
			rows[code]++
		}
		var sum, pairs, total, squares float64
		for _, same := range cells {
			n := float64(len(same))
			total, squares = total+n, squares+n*n
			for a, i := range same {
				for _, j := range same[:a] {
					s, t := train.Codes[last][i], train.Codes[last][j]
					x := (train.Target(int(i))-scale.Center)/scale.Spread - float64(mean[i])
					y := (train.Target(int(j))-scale.Center)/scale.Spread - float64(mean[j])
					sum += x * y / math.Sqrt(size[s]/rows[s]*size[t]/rows[t])
					pairs++
				}
			}
		}
		if pairs == 0 {
			return 1
		}
		return 1 + (squares/total-1)*min(max(sum/pairs, 0), 1)
	}
}

// scoreTargets returns the targets with the scores of the model and of formulas, in their
// own units.
func (r *run) scoreTargets() ([]model.Target, error) {
	targets := slices.Clone(r.data.targets)
	if r.opt.Compare || len(targets) == 0 {
		return targets, nil
	}
	record := r.model.Record()
	record.Targets = targets
	all := r.model.WithRecord(record)
	if r.ofTargets == nil {
		r.ofTargets = make([]baseline.Chosen, len(targets))
	}
	for k := range targets {
		t := &targets[k]
		one, err := all.ForTarget(t.Name)
		if err != nil {
			return nil, err
		}
		own := r.ofTarget(one, int32(k), t.Scale)
		if r.measured != nil { // whose formulas have the medians of the target
			if own.measured, err = r.measured.ForTarget(t.Name); err != nil {
				return nil, err
			}
		}
		own.settings = r.ofTargets[k]
		t.Baseline = own.baseline()
		r.ofTargets[k] = own.settings
		part := dataset.Valid
		if own.size(part) == 0 {
			part = dataset.Train
		}
		t.DecileEdges = evaluate.DecileEdges(own.engine, one, own.targetMoments(part, int32(k)), own.targetRows(part, int32(k)))
		measured := one.Record()
		measured.DecileEdges = t.DecileEdges
		own.model = one.WithRecord(measured)
		for p, to := range []*metrics.Score{&t.Train, &t.Valid, &t.Test} {
			part := dataset.Part(p)
			sums, err := evaluate.Measure(own.engine, own.model, own.targetMoments(part, int32(k)), own.targetRows(part, int32(k)), part != dataset.Train)
			if err != nil {
				return nil, err
			}
			*to = sums.Score(own.model)
			if to.Calibration != nil {
				for i := range to.Calibration.CoverageByMode {
					to.Calibration.CoverageByMode[i].Table = nil
				}
			}
		}
	}
	return targets, nil
}

// ofTarget returns a run with the observations of one target, in its own units and without
// the mode of targets.
func (r *run) ofTarget(one *model.Model, k int32, scale predictive.Scale) *run {
	own := *r
	last := len(r.data.table.Modes) - 1
	table := r.data.table
	table.Modes, table.Dicts = table.Modes[:last], table.Dicts[:last]
	own.data = &Data{source: r.data.source, table: table, split: r.data.split}
	own.spec = one.Spec()
	own.spec.Data.Modes = own.spec.Data.Modes[:last]
	own.model = one
	if r.when != nil {
		when := *r.when
		own.when = &when
	}
	for p := range dataset.Part(len(r.parts)) {
		o := r.part(p)
		var at []int
		for i, code := range o.Codes[last] {
			if code == k {
				at = append(at, i)
			}
		}
		if own.when != nil {
			periods := make([]int32, len(at))
			for i, k := range at {
				periods[i] = r.when.Periods[p][k]
			}
			own.when.Periods[p] = periods
		}
		part := o.Select(at)
		part.Codes = part.Codes[:last]
		for i, z := range part.Y {
			y := scale.Transform.Inverse(scale.Location(z))
			if scale.NonNegative {
				y = max(y, 0)
			}
			part.Y[i] = float32(y)
		}
		own.parts[p] = part
	}
	return &own
}

func (r *run) targetRows(part dataset.Part, k int32) evaluate.Rows {
	rows := rowsOf(r.part(part))
	rows.Codes = append(slices.Clone(rows.Codes), slices.Repeat([]int32{k}, len(rows.Y)))
	return rows
}

func (r *run) targetMoments(part dataset.Part, k int32) tt.Moments {
	return r.model.Moments(r.engine, r.targetRows(part, k).Codes)
}
