package bench

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// WriteText writes the result as an aligned text table.
func (r *Result) WriteText(w io.Writer) {
	fmt.Fprintf(w, "cpu %s, %s, %s/%s, %s, %.1f s\ntable: %s\n", r.Path, onThreads(r.Threads), r.OS, r.Arch, r.Go, r.Seconds, r.Table)
	var aligned bytes.Buffer
	out := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	group := ""
	for _, m := range r.Measures {
		if m.Group != group {
			group = m.Group
			fmt.Fprintf(out, "\n%s\tvalue\tratio\ttarget\treached\n", group)
		}
		fmt.Fprintf(out, "  %s\t%s %s\t%s\t%s\t%s\n", m.Name, number(m.Value), m.Unit, m.ratio(), m.target(), m.reached())
	}
	out.Flush()
	for line := range strings.Lines(aligned.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
}

// ratio formats shares of a peak as percentages and other ratios as multiples.
func (m *Measure) ratio() string {
	switch {
	case m.RatioOf == "":
		return ""
	case m.isShare():
		return fmt.Sprintf("%.0f %% of %s", 100*m.Ratio, m.RatioOf)
	}
	return fmt.Sprintf("%s x %s", number(m.Ratio), m.RatioOf)
}

func (m *Measure) isShare() bool { return strings.Contains(m.RatioOf, "peak") }

func (m *Measure) target() string {
	if m.Target == nil {
		return ""
	}
	sign, limit := ">=", m.Target.AtLeast
	if m.Target.AtMost != 0 {
		sign, limit = "<=", m.Target.AtMost
	}
	switch {
	case m.RatioOf == "":
		return fmt.Sprintf("%s %s %s", sign, number(limit), m.Unit)
	case m.isShare():
		return fmt.Sprintf("%s %.0f %%", sign, 100*limit)
	}
	return fmt.Sprintf("%s %s x", sign, number(limit))
}

func (m *Measure) reached() string {
	switch {
	case m.OK == nil:
		return ""
	case *m.OK:
		return "yes"
	}
	return "no"
}

// number formats three significant digits.
func number(x float64) string {
	if a := math.Abs(x); a >= 100 && a < 1e6 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}
