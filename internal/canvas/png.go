package canvas

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"unicode"
)

// pixels is a canvas of pixels with a built-in font.
type pixels struct{ image *image.RGBA }

// NewPNG returns a canvas that writes PNG. Its font has upper case only.
func NewPNG(width, height int) Canvas {
	return &pixels{image.NewRGBA(image.Rect(0, 0, width, height))}
}

func (p *pixels) Rect(x, y, w, h int, c color.RGBA) {
	draw.Draw(p.image, image.Rect(x, y, x+w, y+h), image.NewUniform(c), image.Point{}, draw.Src)
}

func (p *pixels) Dot(x, y, radius int, c color.RGBA) {
	for dy := -radius; dy <= radius; dy++ {
		for dx := -radius; dx <= radius; dx++ {
			if dx*dx+dy*dy <= radius*(radius+1) { // looks round at small radii
				p.image.SetRGBA(x+dx, y+dy, c)
			}
		}
	}
}

func (p *pixels) Text(x, y int, s string, a Anchor) {
	runes := []rune(s)
	length := len(runes) * GlyphWidth
	along := map[Anchor]int{Left: 0, Middle: -length / 2, Right: -length, Upwards: -length}[a]
	for i, r := range runes {
		for row, bits := range glyph(r) {
			for column := range 5 {
				if bits>>(4-column)&1 == 0 {
					continue
				}
				dx, dy := along+i*GlyphWidth+column, row-3
				if a == Upwards {
					dx, dy = dy, -dx
				}
				p.image.SetRGBA(x+dx, y+dy, color.RGBA{A: 255})
			}
		}
	}
}

func (p *pixels) Write(w io.Writer) error { return png.Encode(w, p.image) }

// glyph returns seven rows of five bits, the leftmost pixel in the highest bit.
// Letters are upper case; unknown characters are drawn as a box.
func glyph(r rune) [7]byte {
	if g, ok := font[unicode.ToUpper(r)]; ok {
		return g
	}
	return [7]byte{0b11111, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b11111}
}
