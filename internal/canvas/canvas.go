// Package canvas draws rectangles, dots and text to an SVG document or a PNG image.
// The same drawing gives the same bytes on every machine.
package canvas

import (
	"image/color"
	"io"
)

// A Canvas is a drawing surface. Coordinates are pixels from the upper left. Text is
// centred vertically at its position.
type Canvas interface {
	Rect(x, y, w, h int, c color.RGBA)
	Dot(x, y, radius int, c color.RGBA)
	Text(x, y int, s string, anchor Anchor)
	// Write writes the finished drawing.
	Write(w io.Writer) error
}

// An Anchor is the part of a text that lies at its position.
type Anchor int

// The anchors.
const (
	Left Anchor = iota
	Middle
	Right
	Upwards // rotated, read from bottom to top, with its end at the position
)

// Size of a glyph cell; SVG uses a monospaced font of about this size.
const (
	GlyphWidth  = 6
	GlyphHeight = 8
)

// White is the background colour.
var White = color.RGBA{255, 255, 255, 255}
