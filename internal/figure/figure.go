// Package figure draws charts as SVG: lines with bands, bars, waterfalls and maps. A
// drawing has a title and a description for screen readers, uses the fonts of the system,
// and follows the colours of a light or a dark surrounding. The same chart gives the same
// bytes on every machine.
package figure

import (
	"bytes"
	_ "embed"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// Style is the style sheet of the drawings. A page that contains drawings inline includes
// it once; [Figure.WriteTo] adds it to a document of its own.
//
//go:embed style.css
var Style string

// A Figure is a drawing. Coordinates are pixels from the upper left.
type Figure struct {
	Width, Height      float64
	Title, Description string
	body               bytes.Buffer
}

// Anchors of a text.
const (
	Start  = "start"
	Middle = "middle"
	End    = "end"
)

// coordinate writes a coordinate with one decimal at most.
func coordinate(v float64) string {
	text := strconv.FormatFloat(v, 'f', 1, 64)
	return strings.TrimSuffix(strings.TrimSuffix(text, ".0"), "-0")
}

// Rect draws a filled rectangle with a tip that is shown at the pointer, "" for none. The
// classes fa to fd, fs and none are colours.
func (f *Figure) Rect(x, y, w, h float64, class, tip string) {
	f.rect(x, y, w, h, `class="`+class+`"`, tip)
}

func (f *Figure) rect(x, y, w, h float64, attributes, tip string) {
	fmt.Fprintf(&f.body, `<rect x="%s" y="%s" width="%s" height="%s" %s`, coordinate(x), coordinate(y), coordinate(max(w, 0)), coordinate(max(h, 0)), attributes)
	f.end("rect", tip)
}

// Dot draws a filled circle.
func (f *Figure) Dot(x, y, radius float64, class, tip string) {
	fmt.Fprintf(&f.body, `<circle cx="%s" cy="%s" r="%s" class="%s"`, coordinate(x), coordinate(y), coordinate(radius), class)
	f.end("circle", tip)
}

// end closes an element, with a tip if there is one.
func (f *Figure) end(element, tip string) {
	if tip == "" {
		f.body.WriteString("/>\n")
		return
	}
	fmt.Fprintf(&f.body, "><title>%s</title></%s>\n", escape(tip), element)
}

// Line draws a straight line of the class rule, axis or mark.
func (f *Figure) Line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&f.body, `<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>`+"\n", coordinate(x1), coordinate(y1), coordinate(x2), coordinate(y2), class)
}

// Path draws a line through points, x and y in turn. The classes la to ld and ls are
// colours.
func (f *Figure) Path(points []float64, class string) {
	if len(points) == 0 {
		return
	}
	fmt.Fprintf(&f.body, `<path class="%s" d="%s"/>`+"\n", class, pathData(points))
}

// Area fills a polygon.
func (f *Figure) Area(points []float64, class string) {
	if len(points) == 0 {
		return
	}
	fmt.Fprintf(&f.body, `<path class="%s" stroke="none" d="%sZ"/>`+"\n", class, pathData(points))
}

func pathData(points []float64) string {
	var b strings.Builder
	for i := 0; i+1 < len(points); i += 2 {
		letter := "L"
		if i == 0 {
			letter = "M"
		}
		b.WriteString(letter + coordinate(points[i]) + " " + coordinate(points[i+1]))
	}
	return b.String()
}

// Text writes a text, centred vertically. The class is "", soft or head.
func (f *Figure) Text(x, y float64, anchor, class, text string) {
	f.text(x, y, anchor, class, text, "")
}

// TextUp writes a text that is read from bottom to top.
func (f *Figure) TextUp(x, y float64, anchor, class, text string) {
	f.text(x, y, anchor, class, text, fmt.Sprintf(` transform="rotate(-90 %s %s)"`, coordinate(x), coordinate(y)))
}

func (f *Figure) text(x, y float64, anchor, class, text, turn string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(&f.body, `<text x="%s" y="%s" text-anchor="%s" dominant-baseline="central"%s%s>%s</text>`+"\n", coordinate(x), coordinate(y), anchor, class, turn, escape(text))
}

// TextWidth estimates the width of a text in pixels.
func TextWidth(text string) float64 {
	width := 0.0
	for _, r := range text {
		width += 6.8
		if unicode.IsUpper(r) {
			width += 1.8
		}
	}
	return width
}

// Shorten cuts a text to at most n characters.
func Shorten(text string, n int) string {
	r := []rune(text)
	if len(r) <= n {
		return text
	}
	return string(r[:n-1]) + "…"
}

// shortenMiddle cuts the middle out of a text that is longer than n characters: labels of one
// chart often begin alike and differ in their last words.
func shortenMiddle(text string, n int) string {
	r := []rune(text)
	if len(r) <= n {
		return text
	}
	return string(r[:n/3]) + "…" + string(r[len(r)-(n-n/3-1):])
}

func escape(text string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(text)) // cannot fail for a buffer
	return b.String()
}

// Inline returns the drawing as an element of an HTML page that has [Style].
func (f *Figure) Inline() string { return f.element("", "") }

func (f *Figure) element(namespace, style string) string {
	description := ""
	if f.Description != "" {
		description = "<desc>" + escape(f.Description) + "</desc>"
	}
	return fmt.Sprintf(`<svg%s class="kft-figure" width="%s" height="%s" viewBox="0 0 %s %s" role="img" aria-label="%s"><title>%s</title>%s%s`+"\n%s</svg>\n",
		namespace, coordinate(f.Width), coordinate(f.Height), coordinate(f.Width), coordinate(f.Height), escape(f.Title), escape(f.Title), description, style, f.body.Bytes())
}

// WriteTo writes the drawing as an SVG document.
func (f *Figure) WriteTo(w io.Writer) (int64, error) {
	paper := fmt.Sprintf(`<rect width="%s" height="%s" class="paper"/>`, coordinate(f.Width), coordinate(f.Height))
	n, err := io.WriteString(w, f.element(` xmlns="http://www.w3.org/2000/svg"`, "<style>"+Style+"</style>"+paper))
	return int64(n), err
}

// Beside returns a figure of two others, one at the right of the other.
func Beside(left, right *Figure, title string) *Figure {
	f := &Figure{Width: left.Width + right.Width, Height: max(left.Height, right.Height), Title: title, Description: left.Description + right.Description}
	f.body.Write(left.body.Bytes())
	fmt.Fprintf(&f.body, `<g transform="translate(%s 0)">`+"\n%s</g>\n", coordinate(left.Width), right.body.Bytes())
	return f
}

// Below returns a figure of others, each below the one before.
func Below(figures []*Figure, title string) *Figure {
	f := &Figure{Title: title}
	for _, g := range figures {
		fmt.Fprintf(&f.body, `<g transform="translate(0 %s)">`+"\n%s</g>\n", coordinate(f.Height), g.body.Bytes())
		f.Width, f.Height, f.Description = max(f.Width, g.Width), f.Height+g.Height, f.Description+g.Description
	}
	return f
}
