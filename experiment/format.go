package experiment

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Formats are the forms in which a summary can be written.
func Formats() []string { return []string{"text", "markdown", "latex"} }

// dash stands for a figure that cannot be computed: the spread of one split.
const dash = "-"

// Write writes the summary in one of the Formats.
func (s *Summary) Write(w io.Writer, format string) error {
	form, known := map[string]func(*strings.Builder, grid){"text": textGrid, "markdown": markdownGrid, "latex": latexGrid}[format]
	if !known {
		return fmt.Errorf("%q is not a format; use one of %s", format, strings.Join(Formats(), ", "))
	}
	note := func(b *strings.Builder, text string) { b.WriteString(text + "\n") }
	switch format {
	case "markdown":
		note = func(b *strings.Builder, text string) { b.WriteString("* " + escapeMarkdown(text) + "\n") }
	case "latex":
		note = func(b *strings.Builder, text string) { b.WriteString("% " + text + "\n") }
	}
	var b strings.Builder
	form(&b, s.grid())
	if len(s.Pairs) > 0 {
		b.WriteString("\n")
		form(&b, s.pairGrid())
	}
	if len(s.Failed)+len(s.Missing)+len(s.Beyond)+len(s.Mixed) > 0 {
		b.WriteString("\n")
	}
	for _, c := range s.Failed {
		note(&b, fmt.Sprintf("failed: %s, split %d: %s", c.Configuration, c.Split, oneLine(c.Problem)))
	}
	for _, m := range s.Missing {
		note(&b, "missing: "+m)
	}
	for _, m := range s.Beyond {
		note(&b, fmt.Sprintf("not counted, as the experiment has %s: %s", plural(s.Splits, "split"), m))
	}
	for _, m := range s.Mixed {
		note(&b, "of several versions: "+m)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// A grid is a table of texts: the first columns to the left, the others to the
// right.
type grid struct {
	caption string
	header  []string
	rows    [][]string
	left    int
}

func (g grid) toLeft(column int) bool { return column < g.left || g.header[column] == "" }

// grid is the table of means. The number of splits is shown where a row has not
// all of them.
func (s *Summary) grid() grid {
	g := grid{caption: fmt.Sprintf("Mean and standard deviation over %s", plural(s.Splits, "split")), header: []string{"configuration"}, left: 1}
	all := !slices.ContainsFunc(s.Rows, func(r Row) bool { return r.N != s.Splits })
	if !all {
		g.header = append(g.header, "n")
	}
	timed := false
	for _, m := range s.measures {
		g.header = append(g.header, m.title)
		timed = timed || m.name == "seconds"
	}
	if !timed {
		g.header = append(g.header, "s a fit")
	}
	g.header = append(g.header, "s in all", "CPU s", "MiB")
	for _, r := range s.Rows {
		row := []string{r.Configuration}
		if !all {
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
			row = append(row, number(r.Fit, 1))
		}
		g.rows = append(g.rows, append(row, number(r.Total, 1), number(r.CPU, 1), number(r.Memory, 0)))
	}
	return g
}

// pairGrid is the table of differences.
func (s *Summary) pairGrid() grid {
	g := grid{caption: fmt.Sprintf("Less %s, on the same splits: mean difference, its standard error, the one in units of the other; better or worse where it is above 2", s.Against),
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

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func textGrid(b *strings.Builder, g grid) {
	all := append([][]string{g.header}, g.rows...)
	width := make([]int, len(g.header))
	for _, row := range all {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	b.WriteString(g.caption + "\n\n")
	for _, row := range all {
		var line strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if g.toLeft(i) {
				line.WriteString(cell + space + "  ")
			} else {
				line.WriteString(space + cell + "  ")
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

func markdownGrid(b *strings.Builder, g grid) {
	b.WriteString(escapeMarkdown(g.caption) + ".\n\n")
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	escaped := func(cells []string) []string {
		var all []string
		for _, c := range cells {
			all = append(all, escapeMarkdown(c))
		}
		return all
	}
	line(escaped(g.header))
	rule := make([]string, len(g.header))
	for i := range rule {
		rule[i] = "---:"
		if g.toLeft(i) {
			rule[i] = "---"
		}
	}
	line(rule)
	for _, row := range g.rows {
		line(escaped(row))
	}
}

var escapeMarkdown = strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;", "`", "\\`").Replace

// latexGrid writes a plain tabular, which needs no package.
func latexGrid(b *strings.Builder, g grid) {
	align := ""
	for i := range g.header {
		if g.toLeft(i) {
			align += "l"
		} else {
			align += "r"
		}
	}
	fmt.Fprintf(b, "%% %s\n\\begin{tabular}{%s}\n\\hline\n", g.caption, align)
	for i, row := range append([][]string{g.header}, g.rows...) {
		var cells []string
		for _, c := range row {
			cells = append(cells, escapeLaTeX(c))
		}
		b.WriteString(strings.Join(cells, " & ") + " \\\\\n")
		if i == 0 {
			b.WriteString("\\hline\n")
		}
	}
	b.WriteString("\\hline\n\\end{tabular}\n")
}

var (
	latexNumber = regexp.MustCompile(`^[+-]?[0-9.]+$`)
	latexText   = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "%", `\%`, "&", `\&`, "_", `\_`, "#", `\#`, "$", `\$`,
		"^", `\textasciicircum{}`, "~", `\textasciitilde{}`, "±", `$\pm$`, "<", `$<$`, ">", `$>$`, "|", `$|$`)
)

// escapeLaTeX makes a text of it; a signed number is mathematics, so that its sign
// is one, and a figure that is missing a dash.
func escapeLaTeX(text string) string {
	switch {
	case latexNumber.MatchString(text) && strings.ContainsAny(text[:1], "+-"):
		return "$" + text + "$"
	case text == dash:
		return "--"
	}
	return latexText.Replace(strings.Replace(text, "± "+dash, "± --", 1))
}
