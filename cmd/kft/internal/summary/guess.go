package summary

import (
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// WriteGuess describes what was guessed about a table: target, modes, what is done with
// rows of the same cell, the columns that are not used, and what to know about them.
// name puts flags behind the fields that a note names.
func WriteGuess(b *strings.Builder, g *tableio.Guess, name func(note string) string) {
	target, modes := g.Target, strings.Join(g.Modes, ", ")
	if target == "" {
		target = "none found; name one with --target"
	}
	switch {
	case modes == "" && g.Duplicates == "keep": // records
		modes = "none"
	case modes == "":
		modes = "none found; name them with --modes"
	}
	fmt.Fprintf(b, "Target: %s\nModes:  %s\n", target, modes)
	if g.Duplicates != "" {
		fmt.Fprintf(b, "Rows of the same cell: %s\n", g.Duplicates)
	}
	if len(g.Covariates) > 0 {
		fmt.Fprintf(b, "Covariates: %s\n", strings.Join(g.Covariates, ", "))
	}
	var left, side [][2]string
	for _, l := range g.LeftOut {
		left = append(left, [2]string{l.Column, name(l.Reason)})
	}
	for _, d := range g.Determined {
		side = append(side, [2]string{d.Column, "determined by " + d.Mode})
	}
	writeColumns(b, "Left out:", left)
	writeColumns(b, "Left out, but candidates for side information:", side)
	for _, note := range g.Notes {
		fmt.Fprintf(b, "Note:   %s\n", name(note))
	}
}

// Of more columns than listedColumns those with the same reason share a line, with at most sharedNames of their names.
const (
	listedColumns = 12
	sharedNames   = 6
)

// writeColumns lists columns with what is said about each.
func writeColumns(b *strings.Builder, head string, columns [][2]string) {
	if len(columns) == 0 {
		return
	}
	if len(columns) > listedColumns {
		columns = byReason(columns)
	}
	width := 0
	for _, c := range columns {
		width = max(width, textformat.Width(textformat.OneLine(c[0])))
	}
	b.WriteString(head + "\n")
	for _, c := range columns {
		name := textformat.OneLine(c[0])
		fmt.Fprintf(b, "  %s%s  %s\n", name, strings.Repeat(" ", width-textformat.Width(name)), c[1])
	}
}

// byReason joins columns about which the same is said.
func byReason(columns [][2]string) (joined [][2]string) {
	var reasons []string
	names := map[string][]string{}
	for _, c := range columns {
		if names[c[1]] == nil {
			reasons = append(reasons, c[1])
		}
		names[c[1]] = append(names[c[1]], c[0])
	}
	for _, reason := range reasons {
		list := names[reason]
		if more := len(list) - sharedNames; more > 1 {
			list = append(list[:sharedNames:sharedNames], fmt.Sprintf("%d more", more))
		}
		joined = append(joined, [2]string{strings.Join(list, ", "), reason})
	}
	return joined
}
