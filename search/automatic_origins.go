package search

import (
	"github.com/kernel-fried-tensor/kft/train"
)

// Candidates for a forecast are compared at several origins if the validation set is
// small: one period is one sample of surprises, and few rows choose by chance. The
// origins lie the validation periods apart, and each keeps at least half of the training
// periods. Their number is limited by the rows that all fits together may read.
const (
	mostOrigins = 4
	originRows  = 40_000
)

// origins returns the data and, before its validation periods, earlier origins of the
// same horizon.
func origins(data *train.Data, rows, valid int) ([]*train.Data, error) {
	all := []*train.Data{data}
	if valid >= foldBelow {
		return all, nil
	}
	for k := 1; k < min(mostOrigins, originRows/rows); k++ {
		earlier, err := data.Earlier(k)
		if err != nil {
			return nil, err
		}
		if earlier == nil {
			break
		}
		all = append(all, earlier)
	}
	return all, nil
}
