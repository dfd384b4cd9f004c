package tune

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

func TestStudyPlot(t *testing.T) { golden(t, "study.svg", recorded(40).WriteSVG) }

// Unusual scores still give a valid plot.
func TestPlotsOfUnusualStudies(t *testing.T) {
	value := func(v float64) *float64 { return &v }
	one := recorded(3)
	one.Trials = one.Trials[:1]
	none := recorded(3)
	none.Trials = nil
	equal := recorded(30)
	for i := range equal.Trials {
		if equal.Trials[i].Score != nil {
			equal.Trials[i].Score = value(-2)
		}
	}
	outliers := recorded(30)
	outliers.Trials[0].Score = value(-1e300)
	outliers.Trials[1].Score = value(1e-300)
	for name, c := range map[string]struct {
		r    Record
		text string
	}{
		"one":      {one, "requires 8 finished trials that differ"},
		"none":     {none, "no completed trials yet"},
		"equal":    {equal, ">-2<"},
		"outliers": {outliers, "score of each trial (2 far worse, drawn at the edge)"},
	} {
		var drawn bytes.Buffer
		if err := c.r.WriteSVG(&drawn); err != nil || !strings.Contains(drawn.String(), c.text) {
			t.Errorf("%s: got error %v, want %q in\n%s", name, err, c.text, drawn.String())
		}
		if strings.Contains(drawn.String(), `="-`) || strings.Contains(drawn.String(), "NaN") {
			t.Errorf("%s: something lies outside the image:\n%s", name, drawn.String())
		}
		for d := xml.NewDecoder(&drawn); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}
