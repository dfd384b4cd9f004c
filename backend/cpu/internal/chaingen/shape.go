package main

import "fmt"

// isa is a set of instructions. AVX-512 cuts vectors by mask registers and has
// 32 vector registers; AVX2 cuts them by vectors of signs and has 16.
type isa struct {
	name, lower string
	opmask      bool
}

var (
	avx512 = isa{name: "AVX512", lower: "avx512", opmask: true}
	avx2   = isa{name: "AVX2", lower: "avx2"}
)

// shape is a row of one length or of a few lengths, as it lies in registers.
type shape struct {
	// class is the vector that holds a piece of the row: S one float, D two,
	// X four, Y eight, Z sixteen.
	class byte
	// vectors is how many of them make the row.
	vectors int
	// cut says that the last one is partly outside the row.
	cut bool
}

func (s shape) lanes() int {
	return map[byte]int{'S': 1, 'D': 2, 'X': 4, 'Y': 8, 'Z': 16}[s.class]
}

// label names the code of the shape: its longest row, and whether it is cut.
func (s shape) label() string {
	l := fmt.Sprintf("row%d", s.lanes()*s.vectors)
	if s.cut {
		l += "cut"
	}
	return l
}

// shapes returns the shapes of the set, those of the commonest ranks first.
func (set isa) shapes() []shape {
	if set.opmask {
		return []shape{
			{'Z', 2, false}, {'Z', 1, false}, {'Z', 4, false}, {'Z', 3, false},
			{'Y', 1, false}, {'X', 1, false}, {'D', 1, false}, {'S', 1, false},
			{'X', 1, true}, {'Y', 1, true},
			{'Z', 1, true}, {'Z', 2, true}, {'Z', 3, true}, {'Z', 4, true},
		}
	}
	return []shape{
		{'Y', 4, false}, {'Y', 2, false}, {'Y', 1, false}, {'Y', 3, false},
		{'X', 1, false}, {'D', 1, false}, {'S', 1, false},
		{'X', 1, true}, {'Y', 1, true}, {'Y', 2, true}, {'Y', 3, true}, {'Y', 4, true},
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

// at is the address of piece v of the row that register base points to.
func (s shape) at(base string, v int) string {
	if v == 0 {
		return "(" + base + ")"
	}
	return fmt.Sprintf("%d(%s)", 4*s.lanes()*v, base)
}

// isCut tells whether piece v is partly outside the row.
func (s shape) isCut(v int) bool { return s.cut && v == s.vectors-1 }
