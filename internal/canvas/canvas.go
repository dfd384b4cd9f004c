// Package canvas is what drawings are made on: rectangles, dots and text, as an
// SVG document or as the pixels of a PNG. The same drawing gives the same bytes
// on every machine.
package canvas

import (
	"image/color"
	"io"
)

// A Canvas is drawn on. Coordinates are pixels from the upper left; text is
// placed by its left, or right, end and its baseline's centre.
type Canvas interface {
	Rect(x, y, w, h int, c color.RGBA)
	Dot(x, y, radius int, c color.RGBA)
	Text(x, y int, s string, anchor Anchor)
	// Write ends the drawing.
	Write(w io.Writer) error
}

// An Anchor is the part of a text that is at its place.
type Anchor int

// The anchors.
const (
	Left Anchor = iota
	Middle
	Right
	Upwards // read from below, its end at the place given
)

// Glyphs are drawn in cells of this size, in SVG by a monospaced font as large.
const (
	GlyphWidth  = 6
	GlyphHeight = 8
)

// White is the paper.
var White = color.RGBA{255, 255, 255, 255}
