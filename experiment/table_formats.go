package experiment

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

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
			if g.alignsLeft(i) {
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
		if g.alignsLeft(i) {
			rule[i] = "---"
		}
	}
	line(rule)
	for _, row := range g.rows {
		line(escaped(row))
	}
}

var escapeMarkdown = strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;", "`", "\\`").Replace

// latexGrid writes a tabular that needs no LaTeX package.
func latexGrid(b *strings.Builder, g grid) {
	align := ""
	for i := range g.header {
		if g.alignsLeft(i) {
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

// escapeLaTeX escapes a text. A signed number is set in math mode, and a missing
// number is a dash.
func escapeLaTeX(text string) string {
	switch {
	case latexNumber.MatchString(text) && strings.ContainsAny(text[:1], "+-"):
		return "$" + text + "$"
	case text == dash:
		return "--"
	}
	return latexText.Replace(strings.Replace(text, "± "+dash, "± --", 1))
}
