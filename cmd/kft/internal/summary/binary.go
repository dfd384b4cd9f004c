package summary

import (
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/metrics"
)

// writeBinaryScores is WriteScores for a target that is 0 or 1.
func writeBinaryScores(b *strings.Builder, record kft.Record, judged dataset.Part) {
	t := textformat.Table{Header: []string{"", "part", "n", "log loss", "Brier", "AUC", "error rate"}, Left: 2}
	add := func(name string, part dataset.Part, s kft.Score) {
		if m := s.Binary; m != nil {
			t.Rows = append(t.Rows, append([]string{name, part.String(), textformat.Count(s.N)}, BinaryRow(m)...))
		}
	}
	writeTable(b, &t, record, judged, add)
}

// BinaryRow writes log loss, Brier score, AUC and error rate.
func BinaryRow(m *metrics.Binary) []string {
	var row []string
	for _, v := range []metrics.Number{m.LogLoss, m.Brier, m.AUC, m.ErrorRate} {
		row = append(row, textformat.Ratio(float64(v)))
	}
	return row
}

// WriteReliability writes predicted probabilities beside shares of ones, by decile of
// the prediction, for a target that is 0 or 1. where names the rows.
func WriteReliability(b *strings.Builder, where string, s kft.Score) {
	if s.Binary == nil {
		return
	}
	header, predicted, actual := []string{"decile"}, []string{"predicted"}, []string{"share of ones"}
	for i, r := range s.Binary.Reliability {
		header = append(header, fmt.Sprint(i+1))
		predicted, actual = append(predicted, percent(r.Predicted)), append(actual, percent(r.Actual))
	}
	b.WriteString("\n")
	t := textformat.Table{Header: header, Rows: [][]string{predicted, actual}, Left: 1}
	t.Write(b)
	fmt.Fprintf(b, "Reliability%s: largest difference %.1f points\n", where, 100*s.Binary.Gap())
}
