package summary

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/internal/digits"
	"github.com/kernel-fried-tensor/kft/metrics"
)

// minBiasRows is the number of rows from which the bias by decile is written.
const minBiasRows = 200

// WriteBias writes predicted against actual totals, if they were measured, and how
// the means were corrected. where names the rows.
func WriteBias(b *strings.Builder, where string, s kft.Score, means *kft.MeansInfo) {
	if math.IsNaN(s.MeanError) || s.Binary != nil {
		return
	}
	what, total, of := "predicted / actual total", ratioOfTotals(s.Bias, 3), func(d metrics.DecileBias) string { return ratioOfTotals(float64(d.Ratio), 2) }
	if math.IsNaN(s.Bias) {
		what, total, of = "mean of predicted - actual", textformat.Amount(s.MeanError), func(d metrics.DecileBias) string { return textformat.Amount(float64(d.Predicted - d.Actual)) }
	}
	fmt.Fprintf(b, "Bias%s: %s %s", where, what, total)
	var deciles []string
	for _, d := range s.BiasByDecile {
		text := textformat.Undefined
		if d.N > 0 {
			text = of(d)
		}
		deciles = append(deciles, text)
	}
	if deciles != nil && s.N >= minBiasRows {
		fmt.Fprintf(b, "; by decile of the prediction %s", strings.Join(deciles, " "))
	}
	switch {
	case means == nil:
	case means.Kind == "factor":
		fmt.Fprintf(b, "; means corrected by factors of %.3g to %.3g", means.Least, means.Most)
	default:
		fmt.Fprintf(b, "; means corrected by %s to %s", digits.Short(means.Least, 3), digits.Short(means.Most, 3))
	}
	b.WriteString("\n")
}

// ratioOfTotals formats a ratio, which is undefined if the actual values are all 0.
func ratioOfTotals(v float64, decimals int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return textformat.Undefined
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
