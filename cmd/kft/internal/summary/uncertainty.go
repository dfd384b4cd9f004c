package summary

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/internal/digits"
	"github.com/kernel-fried-tensor/kft/metrics"
)

// Uncertainty describes how a model quantifies uncertainty.
func Uncertainty(u kft.UncertaintyInfo, transform string) string {
	text := fmt.Sprintf("%s, %s likelihood", u.Inference, u.Likelihood)
	if u.Size > 0 {
		text += fmt.Sprintf(" of size %.4g", u.Size)
	}
	if u.Zero > 0 {
		text += fmt.Sprintf(", %.1f %% further zeros", 100*u.Zero)
	}
	if h := u.Hurdle; h != nil {
		text += fmt.Sprintf(", odds above 0 of %.3g rate^%.3g", math.Exp(h.Shift), h.Slope)
	}
	if u.Levels > 0 {
		text += fmt.Sprintf(" of %d levels", u.Levels)
	}
	if u.DF > 0 {
		text += fmt.Sprintf(" with %.3g degrees of freedom", u.DF)
	}
	if n := u.Noise; n != nil {
		switch {
		case n.Most > 0:
			text += fmt.Sprintf("; noise by %s, sd %s to %s", strings.ReplaceAll(n.Kind[strings.IndexByte(n.Kind, ':')+1:], ",", ", "), digits.Short(n.Least, 4), digits.Short(n.Most, 4))
			if n.Exponent != 0 {
				text += fmt.Sprintf(" times mean^%.3g", n.Exponent/2)
			}
		case n.Kind == "power":
			text += fmt.Sprintf("; noise of sd %s mean^%.3g", digits.Short(n.SD, 4), n.Exponent/2)
		default:
			text += fmt.Sprintf("; noise of sd %s", digits.Short(n.SD, 4))
		}
		if transform != "identity" {
			text += " (" + transform + ")"
		}
	}
	if u.Likelihood == "bernoulli" || u.Likelihood == "ordinal" {
		return text
	}
	if len(u.Heaping) > 0 {
		text += "; whole numbers, heaped by " + strings.Join(u.Heaping, ", ")
	}
	if len(u.Pulled) > 0 {
		text += "; forecasts pulled towards " + strings.Join(u.Pulled, " + ")
	}
	if len(u.Moved) > 0 {
		text += "; forecasts moved by recent values of their series"
	}
	if len(u.Mixed) > 0 {
		text += "; means of forecasts " + strings.Join(u.Mixed, " + ")
		if !slices.Equal(u.Mixed, u.MixedLargest) {
			text += ", of the largest " + strings.Join(u.MixedLargest, " + ")
		}
	}
	return text + "; " + Conformal(u.Conformal)
}

// Conformal describes the conformal correction.
func Conformal(c *kft.ConformalInfo) string {
	if c == nil {
		return "no conformal correction"
	}
	text := fmt.Sprintf("conformal correction %s from %s", c.Kind, textformat.Plural(c.Rows, "row"))
	if c.Kind != "split" {
		text += fmt.Sprintf(", %s", textformat.Plural(c.Groups, "separate group"))
	}
	return text
}

// WriteCalibration writes the coverage of intervals, if it was measured. where names the
// rows.
func WriteCalibration(b *strings.Builder, where string, s kft.Score) {
	c := s.Calibration
	if c == nil || s.Binary != nil {
		return
	}
	if x := s.Censored; x != nil {
		fmt.Fprintf(b, "\nCensored%s: %s left out of the scores; log score with them %s\n", where, textformat.Plural(x.N, "row"), textformat.Amount(float64(x.LogScore)))
	}
	header, row, inPart := []string{"interval"}, []string{"values inside"}, []string{"edges in part"}
	coarse := false
	for _, l := range c.XiByLevel {
		central := evaluate.CentralShare(c.PIT, l.Level)
		coarse = coarse || float64(l.Share) > central+coarseGap
		header, row, inPart = append(header, fmt.Sprintf("%g %%", 100*l.Level)), append(row, percent(l.Share)), append(inPart, percent(metrics.Number(central)))
	}
	fmt.Fprintf(b, "\n")
	t := textformat.Table{Header: header, Rows: [][]string{row}, Left: 1}
	if coarse {
		t.Rows = append(t.Rows, inPart)
	}
	t.Write(b)
	if coarse {
		b.WriteString("Intervals that end at whole numbers contain more values than their level says, because values at the ends count as inside; the second row counts these in part.\n")
	}
	fmt.Fprintf(b, "Intervals%s: Xi %s; CRPS %s, pinball %s, mean width of 90 %% %s\n", where, textformat.Ratio(float64(c.Xi)), textformat.Amount(float64(c.CRPS)), textformat.Amount(float64(c.Pinball)), textformat.Amount(float64(c.Width90)))
	var seen []string
	for _, k := range c.CoverageBySeen {
		if k.N > 0 {
			seen = append(seen, fmt.Sprintf("%s %s (%s)", k.Name, percent(k.Coverage), textformat.Plural(k.N, "row")))
		}
	}
	fmt.Fprintf(b, "Coverage of 90 %% intervals by training rows of the rarest id: %s\n", strings.Join(seen, ", "))
	var modes []string
	for _, m := range c.CoverageByMode {
		if m.Entities > 0 {
			modes = append(modes, fmt.Sprintf("%s %.1f points (%s)", m.Mode, 100*float64(m.Gap), textformat.Plural(m.Entities, "id")))
		}
	}
	if modes != nil {
		fmt.Fprintf(b, "Coverage of 90 %% intervals, mean deviation of ids with %d rows or more: %s\n", metrics.MinEntityRows, strings.Join(modes, ", "))
	}
}

// coarseGap is the share of values on the edges of intervals from which it is told.
const coarseGap = 0.1

// percent writes a share of rows.
func percent(v metrics.Number) string {
	if math.IsNaN(float64(v)) {
		return textformat.Undefined
	}
	return fmt.Sprintf("%.1f %%", 100*float64(v))
}
