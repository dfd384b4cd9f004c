package explain

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/digits"
	"github.com/kernel-fried-tensor/kft/internal/figure"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/spec"
)

// WriteText writes the explanation in words.
func (e *Explanation) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s %s, 90 %% interval %s to %s\n", e.cellText(), number(e.Prediction), e.Target, number(e.Low), number(e.High))
	if e.Actual != nil {
		fmt.Fprintf(&b, "  The table has %s here.\n", number(float64(*e.Actual)))
	}
	for _, mode := range e.Unseen {
		fmt.Fprintf(&b, "  The %s %s is not in the training data and has no side information: the average %s takes its place.\n", mode, e.Cell[mode], mode)
	}
	for _, mode := range e.FromSide {
		if slices.Contains(e.numbers, mode) {
			fmt.Fprintf(&b, "  The %s %s lies beyond the range of the fit.\n", mode, e.Cell[mode])
			continue
		}
		fmt.Fprintf(&b, "  The %s %s has no training rows: it is predicted from its side information, its groups or the series.\n", mode, e.Cell[mode])
	}
	e.writeSteps(&b)
	e.writeTerms(&b)
	if e.WhatIf != nil {
		e.writeWhatIf(&b)
	}
	for _, n := range e.Neighbours {
		n.write(&b, e.Target)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cellText writes the cell as in store=S001,item=A0001.
func (e *Explanation) cellText() string {
	order := func(name string) int {
		if at := slices.Index(e.modes, name); at >= 0 {
			return at
		}
		return len(e.modes) // weights and exposures
	}
	names := slices.SortedFunc(maps.Keys(e.Cell), func(a, b string) int { return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] += "=" + e.Cell[name]
	}
	return strings.Join(names, ",")
}

// writeSteps writes the waterfall: what each part adds on the modelling scale, and the
// value in units of the target after it.
func (e *Explanation) writeSteps(b *strings.Builder) {
	change := "change"
	if e.Scale != "identity" {
		change += " (" + e.Scale + ")"
	}
	t := table{rows: [][]string{{"", change, e.Target}}}
	for i, s := range e.Steps {
		value := ""
		if i > 0 && i <= len(e.Parts) {
			value = signed(e.Parts[i-1].Value)
		}
		t.rows = append(t.rows, []string{s.Label, value, number(float64(s.To))})
	}
	t.write(b)
}

func (e *Explanation) writeTerms(b *strings.Builder) {
	t := table{rows: [][]string{{"by term", "value", "average", "own weights", "side information"}}}
	t.rows = append(t.rows, []string{"offset", number(e.Offset), "", "", ""})
	for _, term := range e.Terms {
		t.rows = append(t.rows, []string{spec.ReadableTerms(term.Term), signed(term.Value), signed(term.Average), signed(term.Own), signed(term.Side)})
	}
	t.rows = append(t.rows, []string{"sum", number(e.Level), "", "", ""})
	t.write(b)
}

func (e *Explanation) writeWhatIf(b *strings.Builder) {
	w := e.WhatIf
	var changes []string
	for _, c := range w.Changes {
		before := c.Before
		if before == "" {
			before = "missing"
		}
		if len(c.New) > 0 {
			before += fmt.Sprintf("; no %s has %s", c.Mode, strings.Join(c.New, " or "))
		}
		changes = append(changes, fmt.Sprintf("%s (now %s)", c.Change, before))
	}
	fmt.Fprintf(b, "  With %s: %s %s instead of %s, 90 %% interval %s to %s\n", strings.Join(changes, ", "), number(w.Prediction), e.Target, number(e.Prediction), number(w.Low), number(w.High))
}

func (n *Neighbourhood) write(b *strings.Builder, target string) {
	fmt.Fprintf(b, "  %s %s%s has %s%s; nearest by %s:\n", n.Mode, n.ID, sideText(n.Side), plural.Count(n.Rows, "training row"), meanText(n.Mean, target), n.By)
	for _, near := range n.Nearest {
		here := ""
		if near.Value != nil {
			here = fmt.Sprintf("; %s at this cell", number(float64(*near.Value)))
		}
		fmt.Fprintf(b, "    %s: distance %s, %s%s%s%s\n", near.ID, number(near.Distance), plural.Count(near.Rows, "row"), meanText(near.Mean, target), here, sideText(near.Side))
	}
}

// sideText writes a side row in brackets, "" for none.
func sideText(side map[string]string) string {
	if len(side) == 0 {
		return ""
	}
	names := slices.Sorted(maps.Keys(side))
	for i, name := range names {
		names[i] = name + " " + figure.Shorten(side[name], 40)
	}
	return " (" + strings.Join(names, ", ") + ")"
}

func meanText(mean *metrics.Number, target string) string {
	if mean == nil {
		return ""
	}
	return fmt.Sprintf(", mean %s %s", target, number(float64(*mean)))
}

func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "not finite"
	}
	return digits.Short(v, 4)
}

func signed(v float64) string {
	return digits.Signed(v, 4)
}

// table aligns columns: the first to the left, the others to the right.
type table struct{ rows [][]string }

func (t table) write(b *strings.Builder) {
	width := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, text := range row {
			width[i] = max(width[i], len([]rune(text)))
		}
	}
	for _, row := range t.rows {
		line := "  " + row[0] + strings.Repeat(" ", width[0]-len([]rune(row[0])))
		for i, text := range row[1:] {
			line += "  " + strings.Repeat(" ", width[i+1]-len([]rune(text))) + text
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
