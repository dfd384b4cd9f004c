package heatmap

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"unicode"
)

// pixels is a canvas of pixels with the built-in font.
type pixels struct{ image *image.RGBA }

func newPixels(width, height int) *pixels {
	return &pixels{image.NewRGBA(image.Rect(0, 0, width, height))}
}

func (p *pixels) rect(x, y, w, h int, c color.RGBA) {
	draw.Draw(p.image, image.Rect(x, y, x+w, y+h), image.NewUniform(c), image.Point{}, draw.Src)
}

func (p *pixels) text(x, y int, s string, a anchor) {
	runes := []rune(s)
	length := len(runes) * glyphWidth
	along := map[anchor]int{left: 0, middle: -length / 2, right: -length, upwards: -length}[a]
	for i, r := range runes {
		for row, bits := range glyph(r) {
			for column := range 5 {
				if bits>>(4-column)&1 == 0 {
					continue
				}
				dx, dy := along+i*glyphWidth+column, row-3
				if a == upwards {
					dx, dy = dy, -dx
				}
				p.image.SetRGBA(x+dx, y+dy, color.RGBA{A: 255})
			}
		}
	}
}

func (p *pixels) write(w io.Writer) error { return png.Encode(w, p.image) }

// glyph returns seven rows of five bits, the leftmost the highest. There are
// capitals only; what the font has not is a box.
func glyph(r rune) [7]byte {
	if g, ok := font[unicode.ToUpper(r)]; ok {
		return g
	}
	return [7]byte{0b11111, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b11111}
}
