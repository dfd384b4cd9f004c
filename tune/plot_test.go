package tune

import (
	"bytes"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/canvas"
)

func TestStudyPlot(t *testing.T) {
	golden(t, "study.svg", recorded(40).WriteSVG)
	var out bytes.Buffer
	if err := recorded(40).WritePNG(&out); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&out)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []struct {
		what string
		x, y int
		want color.RGBA
	}{
		{"background", 0, 0, canvas.White}, {"trial 1", 84, 166, doneColour}, {"failed trial 5", 133, 300, failedColour},
		{"ring of pruned trial 8", 173, 190, prunedColour}, {"inside the ring", 170, 190, canvas.White},
		{"best score line", 450, 56, bestColour}, {"bar of the kernel", 765, 53, doneColour},
	} {
		if got := img.At(at.x, at.y); got != at.want {
			t.Errorf("%s: got %v at %d, %d, want %v", at.what, got, at.x, at.y, at.want)
		}
	}
}

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
		"equal":    {equal, ">-2.0"},
		"outliers": {outliers, "score of each trial (2 far worse, drawn at the edge)"},
	} {
		var vector, pixels bytes.Buffer
		if err := c.r.WriteSVG(&vector); err != nil || !strings.Contains(vector.String(), c.text) {
			t.Errorf("%s: got error %v, want %q in\n%s", name, err, c.text, vector.String())
		}
		if strings.Contains(vector.String(), `="-`) {
			t.Errorf("%s: something lies outside the image:\n%s", name, vector.String())
		}
		if err := c.r.WritePNG(&pixels); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if img, err := png.Decode(&pixels); err != nil || img.Bounds().Dx() != pictureWidth {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{0.6951, 0.8093, "0.70 0.72 0.74 0.76 0.78 0.80"},
		{-3, 41, "0 10 20 30 40"},
		{-1e-4, 1e-4, "-0.00010 -0.00005 0.00000 0.00005 0.00010"},
		{2e6, 9e6, "2000000 4000000 6000000 8000000"},
	} {
		var got []string
		for _, v := range ticks(c.low, c.high, 6) {
			got = append(got, v.text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("from %v to %v: got %q, want %q", c.low, c.high, got, c.want)
		}
	}
}
