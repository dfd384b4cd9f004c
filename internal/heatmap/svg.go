package heatmap

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
)

// vector is a canvas of SVG elements.
type vector struct{ body bytes.Buffer }

func newVector(width, height int) *vector {
	v := &vector{}
	fmt.Fprintf(&v.body, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="monospace" font-size="10" shape-rendering="crispEdges">`+"\n",
		width, height, width, height)
	return v
}

func (v *vector) rect(x, y, w, h int, c color.RGBA) {
	fmt.Fprintf(&v.body, `<rect x="%d" y="%d" width="%d" height="%d" fill="#%02x%02x%02x"/>`+"\n", x, y, w, h, c.R, c.G, c.B)
}

func (v *vector) text(x, y int, s string, a anchor) {
	place := map[anchor]string{left: "start", middle: "middle", right: "end", upwards: "end"}[a]
	turn := ""
	if a == upwards {
		turn = fmt.Sprintf(` transform="rotate(-90 %d %d)"`, x, y)
	}
	fmt.Fprintf(&v.body, `<text x="%d" y="%d" text-anchor="%s" dominant-baseline="central"%s>`, x, y, place, turn)
	xml.EscapeText(&v.body, []byte(s)) // a buffer takes everything
	v.body.WriteString("</text>\n")
}

func (v *vector) write(w io.Writer) error {
	v.body.WriteString("</svg>\n")
	_, err := w.Write(v.body.Bytes())
	return err
}
