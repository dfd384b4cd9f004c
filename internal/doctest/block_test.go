package doctest

import (
	"regexp"
	"slices"
	"strings"
)

// A page is a text split at its console blocks: prose precedes, separates and
// follows them, so there is one more piece of prose than blocks.
type page struct {
	prose  []string
	blocks []block
}

// A block is a fenced console block: commands, each with its output.
type block struct {
	run      bool // false for ```console norun
	fence    string
	commands []command
}

// A command is the lines starting with "$ ", continued by backslashes, and the
// output that the page shows. A line "..." in the output stands for any lines.
type command struct {
	lines  []string
	output []string
}

const fenceEnd = "```"

// parsePage splits a page. Lines before the first command of a block are dropped,
// which the comparison of the reassembled page detects.
func parsePage(text string) page {
	var p page
	var prose strings.Builder
	var b *block
	for line := range strings.Lines(text) {
		trimmed := strings.TrimRight(line, "\n")
		switch {
		case b == nil && strings.HasPrefix(trimmed, fenceEnd+"console"):
			p.prose = append(p.prose, prose.String())
			prose.Reset()
			b = &block{fence: trimmed, run: !strings.Contains(trimmed, "norun")}
		case b == nil:
			prose.WriteString(line)
		case trimmed == fenceEnd:
			p.blocks = append(p.blocks, *b)
			b = nil
		default:
			b.add(trimmed)
		}
	}
	p.prose = append(p.prose, prose.String())
	return p
}

func (b *block) add(line string) {
	last := len(b.commands) - 1
	switch {
	case strings.HasPrefix(line, "$ "):
		b.commands = append(b.commands, command{lines: []string{line}})
	case last >= 0 && b.commands[last].open():
		b.commands[last].lines = append(b.commands[last].lines, line)
	case last >= 0:
		b.commands[last].output = append(b.commands[last].output, line)
	}
}

// open reports whether the next line belongs to the command.
func (c *command) open() bool {
	return len(c.output) == 0 && strings.HasSuffix(c.lines[len(c.lines)-1], `\`)
}

// text returns the shell command.
func (c *command) text() string {
	return strings.TrimPrefix(strings.Join(c.lines, "\n"), "$ ")
}

// String reassembles the page.
func (p page) String() string {
	var b strings.Builder
	for i, prose := range p.prose {
		b.WriteString(prose)
		if i < len(p.blocks) {
			b.WriteString(p.blocks[i].String())
		}
	}
	return b.String()
}

func (b block) String() string {
	lines := []string{b.fence}
	for _, c := range b.commands {
		lines = append(append(lines, c.lines...), c.output...)
	}
	return strings.Join(append(lines, fenceEnd), "\n") + "\n"
}

const ellipsis = "..."

// matches reports whether the shown output equals the real one, up to times and sizes.
func (c *command) matches(real []string) bool {
	cut := slices.Index(c.output, ellipsis)
	if cut < 0 {
		return equal(c.output, real)
	}
	head, tail := c.output[:cut], c.output[cut+1:]
	return len(real) >= len(head)+len(tail) && equal(head, real[:len(head)]) && equal(tail, real[len(real)-len(tail):])
}

// replace shows the real output, shortened where the old one was.
func (c *command) replace(real []string) {
	cut := slices.Index(c.output, ellipsis)
	tail := len(c.output) - cut - 1
	if cut < 0 || len(real) <= cut+tail {
		c.output = real
		return
	}
	c.output = slices.Concat(real[:cut], []string{ellipsis}, real[len(real)-tail:])
}

func equal(a, b []string) bool {
	return slices.EqualFunc(a, b, func(x, y string) bool { return scrub(x) == scrub(y) })
}

// volatile matches what varies between runs: times, sizes and rates.
var volatile = regexp.MustCompile(`[0-9][0-9.,]*( ?)(ns|us|ms|s|min|h|B|kB|KB|MB|GB|KiB|MiB|GiB)\b|[0-9][0-9.,]*[kM]? [a-z]+/s\b`)

func scrub(line string) string { return volatile.ReplaceAllString(line, "#") }
