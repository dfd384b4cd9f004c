package browser

import (
	_ "embed"
	"strconv"
	"strings"
)

// accessible.js returns the problems of a page as a list of texts.
//
//go:embed accessible.js
var accessible string

// Accessibility returns what is wrong with the page for people who cannot see it well
// or do not use a mouse: text with too little contrast (below 4.5, or 3 if it is large,
// the levels AA of WCAG 2.2), controls, pictures and tables without a name, headings out
// of order, ids that are repeated, a page without language or title, a page that is wider
// than the window.
func (t *Tab) Accessibility() []string {
	t.tb.Helper()
	return Evaluate[[]string](t, accessible)
}

// CheckAccessible fails the test for each problem of [Tab.Accessibility].
func (t *Tab) CheckAccessible() {
	t.tb.Helper()
	if problems := t.Accessibility(); len(problems) > 0 {
		t.tb.Errorf("the page is not accessible:\n%s", strings.Join(problems, "\n"))
	}
}

// quote writes a text as a JavaScript literal.
func quote(text string) string { return strconv.QuoteToASCII(text) }
