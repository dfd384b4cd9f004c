package model

import (
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/flat"
)

// partialSummary is the summary of the rows of one of several processes.
type partialSummary struct {
	Rows, Decoded, NoID int
	Unseen, Side        []int
	Missing             []int
	Assumed             []string
	ExampleRows         [][]int
	ExampleIDs          [][]string
	Other               []byte // results of the caller
}

// totalSummary adds the summaries of all processes, given the error of this one, and returns their other
// results. The process that writes has the sum.
func (m *Model) totalSummary(share tableio.Share, sum Summary, other []byte, failed error) (total Summary, others [][]byte, err error) {
	part := partialSummary{Rows: sum.Rows, Decoded: sum.decoded, NoID: sum.NoID, Unseen: sum.Unseen, Side: sum.Side, Missing: sum.missing, Assumed: sum.Assumed, Other: other}
	for _, list := range sum.examples {
		rows, ids := []int{}, []string{}
		for _, e := range list {
			rows, ids = append(rows, e.row), append(ids, e.id)
		}
		part.ExampleRows, part.ExampleIDs = append(part.ExampleRows, rows), append(part.ExampleIDs, ids)
	}
	parts, err := share.Total(flat.Encode(&part), failed)
	if err != nil || parts == nil {
		return sum, nil, err
	}
	total = m.NewSummary()
	for _, text := range parts {
		var part partialSummary
		if err := flat.Decode(text, &part); err != nil {
			return sum, nil, err
		}
		others = append(others, part.Other)
		one := m.NewSummary()
		one.Rows, one.decoded, one.NoID, one.Unseen, one.Side, one.missing, one.Assumed = part.Rows, part.Decoded, part.NoID, part.Unseen, part.Side, part.Missing, part.Assumed
		for mode, rows := range part.ExampleRows {
			for i, row := range rows {
				one.examples[mode] = append(one.examples[mode], example{row, part.ExampleIDs[mode][i]})
			}
		}
		total.add(one)
	}
	return total, others, nil
}
