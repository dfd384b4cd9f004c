package canvas

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
)

// vector is a canvas of SVG elements.
type vector struct{ body bytes.Buffer }

// NewSVG returns a canvas that writes SVG.
func NewSVG(width, height int) Canvas {
	v := &vector{}
	fmt.Fprintf(&v.body, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="monospace" font-size="10" shape-rendering="crispEdges">`+"\n",
		width, height, width, height)
	return v
}

func (v *vector) Rect(x, y, w, h int, c color.RGBA) {
	fmt.Fprintf(&v.body, `<rect x="%d" y="%d" width="%d" height="%d" fill="#%02x%02x%02x"/>`+"\n", x, y, w, h, c.R, c.G, c.B)
}

func (v *vector) Dot(x, y, radius int, c color.RGBA) {
	fmt.Fprintf(&v.body, `<circle cx="%d" cy="%d" r="%d" fill="#%02x%02x%02x" shape-rendering="auto"/>`+"\n", x, y, radius, c.R, c.G, c.B)
}

func (v *vector) Text(x, y int, s string, a Anchor) {
	place := map[Anchor]string{Left: "start", Middle: "middle", Right: "end", Upwards: "end"}[a]
	turn := ""
	if a == Upwards {
		turn = fmt.Sprintf(` transform="rotate(-90 %d %d)"`, x, y)
	}
	fmt.Fprintf(&v.body, `<text x="%d" y="%d" text-anchor="%s" dominant-baseline="central"%s>`, x, y, place, turn)
	xml.EscapeText(&v.body, []byte(s)) // cannot fail for a buffer
	v.body.WriteString("</text>\n")
}

func (v *vector) Write(w io.Writer) error {
	v.body.WriteString("</svg>\n")
	_, err := w.Write(v.body.Bytes())
	return err
}
