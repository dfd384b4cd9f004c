package main

import "fmt"

// isa is a set of instructions: AVX-512 has vectors of sixteen floats, 32
// registers of them and masks; AVX2 has vectors of eight and 16 registers.
type isa struct {
	name, lower string
	wide        bool
}

var (
	avx512 = isa{name: "AVX512", lower: "avx512", wide: true}
	avx2   = isa{name: "AVX2", lower: "avx2"}
)

// shape is a row of one length or of a few lengths, as it lies in registers:
// as pieces, which are vectors of one class. Where the row is not a whole
// number of pieces, the last piece ends with the row and overlaps the one
// before it.
//
// Overlap needs no masks, and it is what keeps the stores fast: a masked store
// delays every load of the bytes it left out, which are the next row.
type shape struct {
	// class is the vector of a piece: S one float, D two, X four, Y eight, Z
	// sixteen.
	class  byte
	pieces int
	// overlap says that the row is shorter than its pieces.
	overlap bool
}

// lanes is the number of floats of a piece.
func (s shape) lanes() int {
	return map[byte]int{'S': 1, 'D': 2, 'X': 4, 'Y': 8, 'Z': 16}[s.class]
}

// label names the code of the shape.
func (s shape) label() string {
	if s.overlap {
		return fmt.Sprintf("below%d", s.lanes()*s.pieces)
	}
	return fmt.Sprintf("row%d", s.lanes()*s.pieces)
}

// shapes returns the shapes of the set: whole rows, those of the commonest
// ranks first, then rows with overlap from the shortest to the longest. They
// cover all lengths up to that of the longest.
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

// reg names vector register i in the width of the shape.
func (s shape) reg(i int) string {
	switch s.class {
	case 'S', 'D':
		return fmt.Sprintf("X%d", i)
	}
	return fmt.Sprintf("%c%d", s.class, i)
}

// at is the address of piece p of the row that register base points to.
func (s shape) at(base string, p int) string {
	switch {
	case p == 0:
		return "(" + base + ")"
	case s.overlap && p == s.pieces-1:
		return fmt.Sprintf("(%s)(%s*1)", base, lastReg)
	}
	return fmt.Sprintf("%d(%s)", 4*s.lanes()*p, base)
}
