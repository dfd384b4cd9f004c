package main

import "fmt"

// isa is an instruction set: AVX-512 has vectors of sixteen floats, 32 vector
// registers and masks; AVX2 has vectors of eight floats and 16 registers.
type isa struct {
	name, lower string
	wide        bool
}

var (
	avx512 = isa{name: "AVX512", lower: "avx512", wide: true}
	avx2   = isa{name: "AVX2", lower: "avx2"}
)

// shape describes rows of one length, or of a few lengths, in registers: as
// pieces, which are vectors of one class. If the row is not a whole number of
// pieces, the last piece ends with the row and overlaps the previous one.
//
// Overlap needs no masks, and it keeps stores fast: a masked store delays every
// load of the bytes that it omits, which belong to the next row.
type shape struct {
	// class is the vector type of a piece: S one float, D two, X four, Y eight,
	// Z sixteen.
	class  byte
	pieces int
	// overlap is set if the row is shorter than its pieces.
	overlap bool
}

// lanes returns the number of floats of a piece.
func (s shape) lanes() int {
	return map[byte]int{'S': 1, 'D': 2, 'X': 4, 'Y': 8, 'Z': 16}[s.class]
}

// label returns the label of the code of the shape.
func (s shape) label() string {
	if s.overlap {
		return fmt.Sprintf("below%d", s.lanes()*s.pieces)
	}
	return fmt.Sprintf("row%d", s.lanes()*s.pieces)
}

// shapes returns the shapes of the instruction set: whole rows, those of the
// most common ranks first, then rows with overlap from the shortest to the
// longest. They cover all lengths up to the longest.
func (set isa) shapes() []shape {
	if set.wide {
		return []shape{
			{'Z', 2, false}, {'Z', 1, false}, {'Z', 4, false}, {'Z', 3, false},
			{'Y', 1, false}, {'X', 1, false}, {'D', 1, false}, {'S', 1, false},
			{'D', 2, true}, {'X', 2, true}, {'Y', 2, true},
			{'Z', 2, true}, {'Z', 3, true}, {'Z', 4, true},
		}
	}
	return []shape{
		{'Y', 4, false}, {'Y', 2, false}, {'Y', 1, false}, {'Y', 3, false},
		{'X', 1, false}, {'D', 1, false}, {'S', 1, false},
		{'D', 2, true}, {'X', 2, true}, {'Y', 2, true}, {'Y', 3, true}, {'Y', 4, true},
	}
}

// reg returns the name of vector register i in the width of the shape.
func (s shape) reg(i int) string {
	switch s.class {
	case 'S', 'D':
		return fmt.Sprintf("X%d", i)
	}
	return fmt.Sprintf("%c%d", s.class, i)
}

// at returns the address of piece p of the row that register base points to.
func (s shape) at(base string, p int) string {
	switch {
	case p == 0:
		return "(" + base + ")"
	case s.overlap && p == s.pieces-1:
		return fmt.Sprintf("(%s)(%s*1)", base, lastReg)
	}
	return fmt.Sprintf("%d(%s)", 4*s.lanes()*p, base)
}
