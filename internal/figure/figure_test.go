package figure

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

// elements counts the elements of a document, and fails for one that is not XML.
func elements(t *testing.T, f *Figure) (map[string]int, string) {
	t.Helper()
	var out bytes.Buffer
	if _, err := f.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Errorf("the drawing has numbers that are not finite:\n%s", text)
	}
	count := map[string]int{}
	for d := xml.NewDecoder(&out); ; {
		token, err := d.Token()
		if err == io.EOF {
			return count, text
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if start, ok := token.(xml.StartElement); ok {
			count[start.Name.Local]++
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	c := Lines{Title: "a < b & c", XName: "month", Labels: []string{"jan", "feb", "mar"}, Reference: []float64{2}, Marks: []float64{1.5}, Series: []Series{
		{Name: "actual", X: []float64{0, 1, 2}, Y: []float64{1, nan, 3}, Colour: 's', Dots: true},
		{Name: "predicted", X: []float64{0, 1, 2}, Y: []float64{1, 2, 3}, Low: []float64{0, 1, 2}, High: []float64{2, 3, math.Inf(1)}, Colour: 'a'},
	}}
	count, text := elements(t, c.Figure())
	if count["circle"] != 2 || count["path"] != 2 { // a dot is missing; a line and its band
		t.Errorf("got %v", count)
	}
	for _, want := range []string{"a &lt; b &amp; c", ">feb<", "predicted: 3 points from 1 to 3", `role="img"`, "prefers-color-scheme"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if inline := c.Figure().Inline(); strings.Contains(inline, "<style>") || strings.Contains(inline, "xmlns") {
		t.Error("an inline drawing has a style sheet of its own")
	}
}

// Charts without values, of one value and of huge values are valid.
func TestUnusualValues(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]float64{"none": nil, "one": {5}, "equal": {-2, -2}, "huge": {1e300, -1e300}, "tiny": {1e-300, 2e-300}, "undefined": {math.NaN(), math.Inf(1)}, "zero": {0, 0}} {
		var x []float64
		var bars []Bar
		var steps []Step
		for i, v := range values {
			x = append(x, float64(i))
			bars = append(bars, Bar{Label: fmt.Sprint(i), Value: v})
			if finite(v) {
				steps = append(steps, Step{Label: "step", From: v, To: 2 * v})
			}
		}
		for chart, f := range map[string]*Figure{"lines": Lines{Series: []Series{{X: x, Y: values, Colour: 'a'}}}.Figure(), "bars": Bars{Bars: bars}.Figure(),
			"histogram": Histogram{Values: values, To: 1}.Figure(), "waterfall": Waterfall{Steps: steps}.Figure()} {
			t.Run(name+" "+chart, func(t *testing.T) { elements(t, f) })
		}
	}
}

func example(rows, columns int) Map {
	m := Map{Title: "Share inside the 90 % interval", RowName: "store", ColumnName: "month", Nominal: 0.9,
		Rate: func(r, c int) float64 {
			if (r+c)%17 == 0 {
				return math.NaN()
			}
			return math.Min(1, 0.75+0.5*float64((r*7+c*13)%20)/20)
		},
		Weight: func(r int) int { return r % 1000 }}
	for r := range rows {
		m.Rows = append(m.Rows, fmt.Sprintf("store <%d> & co", r))
	}
	for c := range columns {
		m.Columns = append(m.Columns, fmt.Sprintf("%d-%02d", 2012+c/12, c%12+1))
	}
	return m
}

func TestMap(t *testing.T) {
	t.Parallel()
	_, text := elements(t, example(30, 60).Figure())
	if cells := strings.Count(text, "M") - strings.Count(text, "Mean"); cells < 30*60 {
		t.Errorf("got %d cells, want %d", cells, 30*60)
	}
	_, text = elements(t, example(1200, 24).Figure())
	if !strings.Contains(text, "300 of 1200 store entities, those with the most values") || !strings.Contains(text, "store &lt;999&gt;") {
		t.Errorf("the rows with the most values are not drawn")
	}
	if len(text) > 300_000 {
		t.Errorf("the drawing has %d bytes", len(text))
	}
	for rate, want := range map[float64]string{0.9: "#f7f7f0", 0: "#b2182b"} {
		if got := shade(rate, 0.9); !strings.Contains(got, want) {
			t.Errorf("rate %g: got %s, want %s", rate, got, want)
		}
	}
	if !strings.Contains(shade(math.NaN(), 0.9), "none") {
		t.Error("a missing rate has a colour")
	}
}

func TestShortenMiddle(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"mean by item": "mean by item", "mean by store and item, times factor by month": "mean …r by month", "日本日本日本日本日本日本日本日本日本": "日本日本日…日本日本日本日本日本"} {
		if got := shortenMiddle(text, 16); len([]rune(got)) > 16 || got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestTicks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 1, "0 0.2 0.4 0.6 0.8 1"}, {0.6951, 0.8093, "0.7 0.72 0.74 0.76 0.78 0.8"}, {-3, 41, "0 10 20 30 40"}, {2e6, 9e6, "2000000 4000000 6000000 8000000"},
		{2023, 2024, "2023 2023.2 2023.4 2023.6 2023.8 2024"}, {1e8, 1e8 + 4, "100000000 100000001 100000002 100000003 100000004"},
	} {
		got := tickTexts(ticks(c.low, c.high, 6))
		if strings.Join(got, " ") != c.want {
			t.Errorf("from %v to %v: got %q, want %q", c.low, c.high, got, c.want)
		}
	}
}
