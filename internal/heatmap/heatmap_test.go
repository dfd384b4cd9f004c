package heatmap

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"strings"
	"testing"
)

func example(rows, columns int) *Map {
	m := &Map{Title: "Share inside the 90 % interval", RowName: "store", ColumnName: "month", Nominal: 0.9,
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

func TestSVGIsWellFormedAndComplete(t *testing.T) {
	var out bytes.Buffer
	if err := example(30, 60).WriteSVG(&out); err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(bytes.NewReader(out.Bytes()))
	rects := 0
	var texts []string
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch v := token.(type) {
		case xml.StartElement:
			if v.Name.Local == "rect" {
				rects++
			}
		case xml.CharData:
			texts = append(texts, string(v))
		}
	}
	if least := 30*60 + legendSteps; rects < least {
		t.Errorf("got %d rectangles, want at least %d", rects, least)
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{"Share inside the 90 % interval", "store <0> & co", "store <29> & co", "2012-01", "2016-12", "0.9 nominal", "no values", "month"} {
		if !strings.Contains(all, want) {
			t.Errorf("the drawing does not contain %q", want)
		}
	}
}

func TestDrawingIsDeterministic(t *testing.T) {
	for name, write := range map[string]func(*Map, io.Writer) error{"png": (*Map).WritePNG, "svg": (*Map).WriteSVG} {
		var a, b bytes.Buffer
		if err := write(example(40, 12), &a); err != nil {
			t.Fatal(name, err)
		}
		if err := write(example(40, 12), &b); err != nil {
			t.Fatal(name, err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s: two drawings of the same map differ", name)
		}
	}
}

// TestPNGShowsCells compares pixel colours at the positions of the layout.
func TestPNGShowsCells(t *testing.T) {
	m := example(20, 24)
	var out bytes.Buffer
	if err := m.WritePNG(&out); err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("HEATMAP_DIR"); dir != "" { // for visual inspection
		if err := os.WriteFile(dir+"/heatmap.png", out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	img, err := png.Decode(&out)
	if err != nil {
		t.Fatal(err)
	}
	l := m.layout()
	if img.Bounds().Dx() != l.width || img.Bounds().Dy() != l.height {
		t.Fatalf("got image %v, want %d x %d", img.Bounds(), l.width, l.height)
	}
	for r := range 20 {
		for c := range 24 {
			got := img.At(l.left+c*l.cellW+l.cellW/2, l.top+r*l.cellH+l.cellH/2)
			if want := shade(m.Rate(r, c), m.Nominal); got != want {
				t.Fatalf("cell %d, %d: got %v, want %v", r, c, got, want)
			}
		}
	}
	black := 0
	for x := range l.left - 4 {
		for y := l.top; y < l.top+20*l.cellH; y++ {
			if r, _, _, _ := img.At(x, y).RGBA(); r == 0 {
				black++
			}
		}
	}
	if black < 20*20 {
		t.Errorf("got %d dark pixels beside the rows, want labels", black)
	}
}

func TestManyRows(t *testing.T) {
	m := example(1000, 3)
	l := m.layout()
	if len(l.shown) != MaxRows || l.shown[0] != 1000-MaxRows {
		t.Errorf("got %d rows from %d, want %d from %d", len(l.shown), l.shown[0], MaxRows, 1000-MaxRows)
	}
	if !strings.Contains(l.title, "300 of 1000") {
		t.Errorf("got title %q, want 300 of 1000 in it", l.title)
	}
	labels := 0
	for i := range l.shown {
		if labelled(i, len(l.shown), l.rowStep) {
			labels++
		}
	}
	if labels < 10 || labels > maxLabels+1 {
		t.Errorf("got %d labels, want 10 to %d", labels, maxLabels+1)
	}
}

func TestShade(t *testing.T) {
	for rate, want := range map[float64]any{0: under, 0.9: ideal, 1: mix(ideal, over, 1.0/3)} {
		if got := shade(rate, 0.9); got != want {
			t.Errorf("colour of %g: got %v, want %v", rate, got, want)
		}
	}
	if shade(1, 0.1) != over {
		t.Error("the rate farthest above the nominal one does not have the end colour")
	}
	if shade(math.NaN(), 0.9) != empty {
		t.Error("a missing rate does not have the empty colour")
	}
}
