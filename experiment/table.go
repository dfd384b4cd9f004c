package experiment

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/plural"
)

// Formats returns the formats in which a summary can be written.
func Formats() []string { return []string{"text", "markdown", "latex"} }

// dash stands for a number that cannot be computed, such as the standard deviation of
// one split.
const dash = "-"

// Write writes the summary in one of the Formats.
func (s *Summary) Write(w io.Writer, format string) error {
	write, known := map[string]func(*strings.Builder, grid){"text": textGrid, "markdown": markdownGrid, "latex": latexGrid}[format]
	if !known {
		return fmt.Errorf("unknown format %q; use one of %s", format, joined(Formats()))
	}
	note := func(b *strings.Builder, text string) { b.WriteString(text + "\n") }
	switch format {
	case "markdown":
		note = func(b *strings.Builder, text string) { b.WriteString("* " + escapeMarkdown(text) + "\n") }
	case "latex":
		note = func(b *strings.Builder, text string) { b.WriteString("% " + text + "\n") }
	}
	var b strings.Builder
	write(&b, s.grid())
	if len(s.Pairs) > 0 {
		b.WriteString("\n")
		write(&b, s.pairGrid())
	}
	if len(s.Failed)+len(s.Missing)+len(s.Extra)+len(s.Mixed) > 0 {
		b.WriteString("\n")
	}
	for _, c := range s.Failed {
		note(&b, fmt.Sprintf("failed: %s, split %d: %s", c.Configuration, c.Split, oneLine(c.Problem)))
	}
	for _, m := range s.Missing {
		note(&b, "missing: "+m)
	}
	for _, m := range s.Extra {
		note(&b, fmt.Sprintf("not counted, because the experiment has %s: %s", plural.Count(s.Splits, "split"), m))
	}
	for _, m := range s.Mixed {
		note(&b, "results of several versions: "+m)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// A grid is a table of texts. The first columns, and those without a heading, are
// aligned to the left, the others to the right.
type grid struct {
	caption string
	header  []string
	rows    [][]string
	left    int // number of columns aligned to the left
}

func (g grid) alignsLeft(column int) bool { return column < g.left || g.header[column] == "" }

// grid returns the table of means. The number of splits is shown if a row lacks some
// of them.
func (s *Summary) grid() grid {
	g := grid{caption: fmt.Sprintf("Mean and standard deviation over %s", plural.Count(s.Splits, "split")), header: []string{"configuration"}, left: 1}
	complete := !slices.ContainsFunc(s.Rows, func(r Row) bool { return r.N != s.Splits })
	if !complete {
		g.header = append(g.header, "n")
	}
	timed := false
	for _, m := range s.measures {
		g.header = append(g.header, m.title)
		timed = timed || m.name == "seconds"
	}
	if !timed {
		g.header = append(g.header, "s per fit")
	}
	g.header = append(g.header, "s in all", "CPU s", "MiB")
	for _, r := range s.Rows {
		row := []string{r.Configuration}
		if !complete {
			row = append(row, fmt.Sprintf("%d of %d", r.N, s.Splits))
		}
		for i, m := range s.measures {
			text := spread(r.Values[i], m.decimals)
			if n := r.Values[i].N; n > 0 && n < r.N {
				text += fmt.Sprintf(" (n=%d)", n)
			}
			row = append(row, text)
		}
		if !timed {
			row = append(row, number(r.FitSeconds, 1))
		}
		g.rows = append(g.rows, append(row, number(r.TotalSeconds, 1), number(r.CPUSeconds, 1), number(r.MemoryMiB, 0)))
	}
	return g
}

// pairGrid returns the table of differences.
func (s *Summary) pairGrid() grid {
	g := grid{caption: fmt.Sprintf("Minus %s, on the same splits: mean difference, its standard error SE, and the difference in units of SE; better or worse if it exceeds 2 SE", s.Against),
		header: []string{"configuration", "measure", "difference", "SE", "in SE", "n", ""}, left: 2}
	for _, p := range s.Pairs {
		d := p.measure.decimals + 1
		g.rows = append(g.rows, []string{p.Configuration, p.measure.title, signed(p.Difference.Mean, d), number(p.Difference.SE(), d), signed(p.T(), 1), strconv.Itoa(p.Difference.N), p.Verdict})
	}
	return g
}

func spread(e Estimate, decimals int) string {
	if e.N == 0 {
		return dash
	}
	return number(e.Mean, decimals) + " ± " + number(e.SD, decimals)
}

func number(v float64, decimals int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return dash
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

func signed(v float64, decimals int) string {
	text := number(v, decimals)
	if v > 0 && strings.Trim(text, "0.") != "" {
		return "+" + text
	}
	return text
}

func joined(names []string) string { return strings.Join(names, ", ") }
