package train

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/baseline"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/tt"
)

// correlationRows is the number of observations from which a correlation of errors is
// estimated.
const correlationRows = 400_000

// sharedErrors returns a function for the number of observations of a row that carry as
// much information as one: 1 + (k-1) c, for k targets per row whose errors have the mean
// correlation c. Units and revenue of a row share most of their error, and would be counted
// twice otherwise.
func (r *run) sharedErrors() func(mean, squared []float32) float64 {
	if r.data.Scales() == nil {
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
		k := len(r.data.Scales())
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
	targets := slices.Clone(r.data.Scales())
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
func (r *run) ofTarget(one *model.Model, k int32, scale targetscale.Scale) *run {
	own := *r
	last := len(r.data.Table().Modes) - 1
	own.data = r.data.OneTarget()
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
	rows := evaluate.RowsOf(r.part(part))
	rows.Codes = append(slices.Clone(rows.Codes), slices.Repeat([]int32{k}, len(rows.Y)))
	return rows
}

func (r *run) targetMoments(part dataset.Part, k int32) tt.Moments {
	return r.model.Moments(r.engine, r.targetRows(part, k).Codes)
}
