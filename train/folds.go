package train

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// Folds divides the training and validation rows into n folds by the seed, and returns
// the data n times, each with another fold as the validation set. The test rows stay
// what they are.
func (d *Data) Folds(n int, seed uint64) []*Data {
	var rows []int
	for i, p := range d.split.Parts {
		if p == dataset.Train || p == dataset.Valid {
			rows = append(rows, i)
		}
	}
	randstream.New(seed, "folds").Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	var all []*Data
	for k := range n {
		fold, split := *d, *d.split
		split.Parts = slices.Clone(d.split.Parts)
		for i, row := range rows {
			split.Parts[row] = dataset.Train
			if i%n == k {
				split.Parts[row] = dataset.Valid
			}
		}
		fold.split = &split
		all = append(all, &fold)
	}
	return all
}
