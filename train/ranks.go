package train

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/backend/mpi"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/train/checkpoint"
	"github.com/kernel-fried-tensor/kft/train/collective"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Agree returns the decision of rank 0, on all ranks.
func (o *Options) Agree(yes bool) bool { return collective.Agree(o.Ranks, yes) }

// agreeRead makes all ranks fail if one of them could not read the table, or has another one.
func (o *Options) agreeRead(data *fitdata.Data, err error) error {
	if o.Ranks == nil {
		return err
	}
	if err := mpi.AgreeErrors(o.Ranks, err); err != nil {
		return err
	}
	parts := crc32.Checksum(backend.Bytes(data.Split().Parts), crc32.MakeTable(crc32.Castagnoli))
	return mpi.AgreeSame(o.Ranks, "the table or its split", binary.LittleEndian.AppendUint32([]byte(data.Hash()), parts))
}

// loadTogether returns the state that rank 0 continues from, on all ranks; nil if there is none.
func (r *run) loadTogether() (*solver.State, error) {
	if r.opt.Ranks == nil {
		return r.load()
	}
	var state *solver.State
	var content []byte
	var err error
	if collective.Leads(r.opt.Ranks) {
		if state, err = r.load(); err == nil && state != nil {
			content, err = r.checkpoint.Content(state)
		}
	}
	if err := collective.AgreeErrors(r.opt.Ranks, err); err != nil {
		return nil, err
	}
	content = backend.BroadcastBytes(r.opt.Ranks, content)
	if len(content) == 0 || collective.Leads(r.opt.Ranks) {
		return state, nil
	}
	f, err := modelfile.Decode(content, r.opt.Checkpoint)
	if err != nil {
		return nil, err
	}
	return checkpoint.Decode(f, r.opt.Checkpoint)
}

// solverEngine returns the engine of the solver, whose work is divided over the ranks, and a function that
// gives back its memory.
func (r *run) solverEngine() (backend.Backend, func() error) {
	path, err := cpu.ChoosePath()
	if r.opt.Ranks == nil || err != nil { // it was chosen before
		return r.engine, func() error { return nil }
	}
	engine := cpu.New(path, r.engine.Threads()).OnRanks(r.opt.Ranks)
	if r.pages != nil {
		engine.SetPages(r.pages)
		return engine, func() error { return nil }
	}
	reserved := paged.Reserve() // a rank uses parts of arrays with an entry per row
	engine.SetPages(reserved)
	return engine, reserved.Close
}

// momentsTogether returns the field's moments, of which each rank computes a part.
func (r *run) momentsTogether(codes [][]int32) tt.Moments {
	n := len(codes[0])
	pieces := (n + model.MomentRows - 1) / model.MomentRows
	if r.opt.Ranks == nil || pieces < 2 {
		return r.model.Moments(r.engine, codes)
	}
	bounds := backend.Even(pieces, r.opt.Ranks.Size())
	for k, piece := range bounds {
		bounds[k] = min(n, piece*model.MomentRows)
	}
	from, to := bounds[r.opt.Ranks.Rank()], bounds[r.opt.Ranks.Rank()+1]
	own := make([][]int32, len(codes))
	for m, column := range codes {
		own[m] = column[from:to]
	}
	part := r.model.Moments(r.engine, own)
	complete := func(part []float32) []float32 {
		if part == nil {
			return nil
		}
		all := backend.Make[float32](r.engine, n)
		copy(all[from:to], part)
		backend.GatherValues(r.opt.Ranks, all, bounds, 1)
		backend.FreeAll(r.engine, [][]float32{part})
		return all
	}
	return tt.Moments{Mean: complete(part.Mean), Var: complete(part.Var)}
}

// measureTogether measures rows, of which each rank takes a part.
func (r *run) measureTogether(z tt.Moments, rows evaluate.Rows, calibration bool) (sums *evaluate.Sums, err error) {
	if r.opt.Ranks == nil {
		return evaluate.Measure(r.engine, r.model, z, rows, calibration)
	}
	return evaluate.MeasureOver(r.opt.Ranks, func(err error) error { return collective.AgreeErrors(r.opt.Ranks, err) }, r.engine, r.model, z, rows, calibration)
}
