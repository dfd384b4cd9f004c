package model

import (
	"encoding/json"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// partialSummary is the summary of the rows of one of several processes.
type partialSummary struct {
	Rows, Decoded int
	Unseen, Side  []int
	Assumed       []string
	ExampleRows   [][]int
	ExampleIDs    [][]string
}

// totalSummary adds the summaries of all processes, given the error of this one. writes
// reports whether this process has the sum.
func (m *Model) totalSummary(share tableio.Share, sum Summary, failed error) (total Summary, writes bool, err error) {
	part := partialSummary{Rows: sum.Rows, Decoded: sum.decoded, Unseen: sum.Unseen, Side: sum.Side, Assumed: sum.Assumed}
	for _, list := range sum.examples {
		rows, ids := []int{}, []string{}
		for _, e := range list {
			rows, ids = append(rows, e.row), append(ids, e.id)
		}
		part.ExampleRows, part.ExampleIDs = append(part.ExampleRows, rows), append(part.ExampleIDs, ids)
	}
	text, err := json.Marshal(part)
	if failed == nil {
		failed = err
	}
	parts, err := share.Total(text, failed)
	if err != nil || parts == nil {
		return sum, false, err
	}
	total = m.NewSummary()
	for _, text := range parts {
		var part partialSummary
		if err := json.Unmarshal(text, &part); err != nil {
			return sum, true, err
		}
		one := m.NewSummary()
		one.Rows, one.decoded, one.Unseen, one.Side, one.Assumed = part.Rows, part.Decoded, part.Unseen, part.Side, part.Assumed
		for mode, rows := range part.ExampleRows {
			for i, row := range rows {
				one.examples[mode] = append(one.examples[mode], example{row, part.ExampleIDs[mode][i]})
			}
		}
		total.add(one)
	}
	return total, true, nil
}
