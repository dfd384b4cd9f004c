package covariate

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// AddPoints adds a joint covariate to a table whose other covariates have their bins: the id of a row is the
// point of its numbers, or of the centres of bins if the table does not keep the numbers. Bins limit how exact a
// function of points can be: the centres of 128 bins differ from evenly spread numbers by a 128th of their standard
// deviation, which is more than nearly exact lines leave. It is an error if a covariate of the mode is not one of numbers.
func AddPoints(t *dataset.Table, mode dataset.Mode) error {
	of := mode.Members(t.Modes)
	if i := slices.Index(of, -1); i >= 0 {
		name := mode.Columns[i]
		return fielderr.Errorf("data.modes", "%s: %s is not a covariate of numbers; add it as number(%s), or leave it out", mode.Expression(), name, name)
	}
	exact, grids := make([][]float32, len(of)), make([]*Grid, len(of))
	for i, at := range of {
		if at < len(t.Numbers) && len(t.Numbers[at]) == t.Len() { // there are no rows that the fit added
			exact[i], grids[i] = t.Numbers[at], GridOf(t.Dicts[at].IDs())
		}
	}
	var ids []string
	codes, known, byCodes := make([]int32, t.Len()), map[string]int32{}, map[string]int32{}
	key, numbers := []byte(nil), make([]string, len(of))
	for k := range codes {
		key = key[:0]
		for i, at := range of {
			if exact[i] != nil {
				key = binary.LittleEndian.AppendUint32(key, math.Float32bits(exact[i][k]))
				continue
			}
			key = binary.LittleEndian.AppendUint32(key, uint32(t.Codes[at][k]))
		}
		code, seen := byCodes[string(key)]
		if !seen {
			for i, at := range of {
				if exact[i] != nil {
					numbers[i] = grids[i].Exact(float64(exact[i][k]))
				} else {
					numbers[i] = t.Dicts[at].ID(t.Codes[at][k])
				}
			}
			id := mode.Point(numbers)
			if code, seen = known[id]; !seen {
				code = int32(len(ids))
				ids, known[id] = append(ids, id), code
			}
			byCodes[string(key)] = code
		}
		codes[k] = code
	}
	t.Modes, t.Dicts, t.Codes = append(slices.Clip(t.Modes), mode), append(slices.Clip(t.Dicts), dataset.NewDict(ids)), append(slices.Clip(t.Codes), codes)
	return nil
}
