package main

import "math"

func exp512(a *Asm) { vectorFunction(a, avx512, "expVectors512", expBody) }
func cos512(a *Asm) { vectorFunction(a, avx512, "cosVectors512", cosBody) }
func exp256(a *Asm) { vectorFunction(a, avx2, "expVectors256", expBody) }
func cos256(a *Asm) { vectorFunction(a, avx2, "cosVectors256", cosBody) }

// magic, added to a float32 below 2^22, rounds it to the nearest integer and
// leaves that integer in the low bits.
const magic = 3 << 22

// constants allocates registers for broadcast constants, from the highest
// number down.
type constants struct {
	a    *Asm
	s    isa
	next int
}

func (c *constants) bits(bits uint32) string {
	r := c.s.reg(c.next)
	c.next--
	c.a.Op("VBROADCASTSS", c.a.Uint32(bits), r)
	return r
}

func (c *constants) float(v float64) string { return c.bits(math.Float32bits(float32(v))) }

// vectorFunction emits a function of n elements, for AVX2 a multiple of 8. It
// returns the number of elements that it computed: it stops before a vector
// that holds an argument outside the range of the body. prepare loads constants
// and returns the body, which takes the argument in register 0, leaves the
// result there, and may jump to "stop".
func vectorFunction(a *Asm, s isa, name string, prepare func(*Asm, isa, *constants) func()) {
	a.Text(name, 32, "func "+name+"(dst, src *float32, n int) int")
	a.Op("MOVQ", "dst+0(FP)", "DI")
	a.Op("MOVQ", "src+8(FP)", "SI")
	a.Op("MOVQ", "n+16(FP)", "CX")
	a.Op("XORQ", "DX", "DX")
	top := 15
	if s.masked {
		top = 31
	}
	body := prepare(a, s, &constants{a: a, s: s, next: top})
	a.Op("MOVQ", "CX", "BX")
	a.Op("ANDQ", Imm(-s.lanes), "BX")
	a.Op("JZ", "tail")
	a.Label("vectors")
	a.Op("VMOVUPS", Indexed("SI", 0, "DX", 4), s.reg(0))
	body()
	a.Op("VMOVUPS", s.reg(0), Indexed("DI", 0, "DX", 4))
	a.Op("ADDQ", Imm(s.lanes), "DX")
	a.Op("CMPQ", "DX", "BX")
	a.Op("JLT", "vectors")
	a.Label("tail")
	if s.masked {
		a.Op("SUBQ", "DX", "CX")
		a.Op("JZ", "stop")
		a.Op("MOVL", "$1", "AX")
		a.Op("SHLL", "CX", "AX")
		a.Op("DECL", "AX")
		a.Op("KMOVW", "AX", "K1")
		a.Op("VMOVUPS.Z", Indexed("SI", 0, "DX", 4), "K1", s.reg(0))
		body()
		a.Op("VMOVUPS", s.reg(0), "K1", Indexed("DI", 0, "DX", 4))
		a.Op("ADDQ", "CX", "DX")
	}
	a.Label("stop")
	a.Op("MOVQ", "DX", "ret+24(FP)")
	a.Return()
}

// expBody computes e^x = 2^n e^r with n = round(x/ln 2) and |r| <= ln(2)/2,
// where e^r = 1 + r + r^2 q(r) with q of degree 4, relative error 1.1e-8. n ln
// 2 is subtracted in two parts; the first subtraction is exact because it is
// fused.
func expBody(a *Asm, s isa, c *constants) func() {
	high, low := c.float(100), c.float(-110)
	perLog2, round := c.float(1/math.Ln2), c.float(magic)
	log2High := float64(float32(math.Ln2))
	ln2, ln2Rest := c.float(log2High), c.float(math.Ln2-log2High)
	var q []string
	for _, v := range []float64{0.0013926926614, 0.00836377387441, 0.0416665501103, 0.166665733819, 0.5} {
		q = append(q, c.float(v))
	}
	one := c.float(1)
	bias := ""
	if !s.masked {
		bias = c.bits(127)
	}
	x, n, p := s.reg(0), s.reg(1), s.reg(2)
	return func() {
		// The argument is the first operand, so that the minimum and the
		// maximum with a NaN are NaN.
		a.Op("VMINPS", x, high, x)
		a.Op("VMAXPS", x, low, x)
		a.Op("VMOVAPS", round, n)
		a.Op("VFMADD231PS", x, perLog2, n)
		a.Op("VSUBPS", round, n, n)
		a.Op("VFNMADD231PS", n, ln2, x)
		a.Op("VFNMADD231PS", n, ln2Rest, x)
		a.Op("VMOVAPS", q[0], p)
		for _, next := range append(q[1:], one, one) {
			a.Op("VFMADD213PS", next, x, p)
		}
		if s.masked {
			a.Op("VSCALEFPS", n, p, x)
			return
		}
		// 2^n is applied as two factors, because n may be outside the range of
		// exponents.
		a.Op("VCVTPS2DQ", n, n)
		a.Op("VPSRAD", "$1", n, x)
		a.Op("VPSUBD", x, n, n)
		a.Op("VPADDD", bias, x, x)
		a.Op("VPSLLD", "$23", x, x)
		a.Op("VMULPS", x, p, p)
		a.Op("VPADDD", bias, n, n)
		a.Op("VPSLLD", "$23", n, n)
		a.Op("VMULPS", n, p, x)
	}
}

// cosLimit is the largest argument of cosBody: up to it round(x/pi) is below
// 2^16, its product with the first part of pi is exact, and the rounding error
// of x/pi leaves r below 1.6.
const cosLimit = 1 << 17

// cosBody computes cos x = (-1)^n cos r with n = round(x/pi), r = x - n pi, and
// cos r = 1 - r^2/2 + r^4 q(r^2) with q of degree 3, absolute error 1.7e-8 for
// |r| <= 1.6. n pi is subtracted in two parts, both fused.
func cosBody(a *Asm, s isa, c *constants) func() {
	limit := c.float(cosLimit * cosLimit)
	perPi, round := c.float(1/math.Pi), c.float(magic)
	piHigh := float64(float32(math.Pi))
	pi, piRest := c.float(piHigh), c.float(math.Pi-piHigh)
	var q []string
	for _, v := range []float64{-2.65088440651e-7, 2.47849120802e-5, -0.00138888037153, 0.0416666659856, -0.5, 1} {
		q = append(q, c.float(v))
	}
	x, n, u, p := s.reg(0), s.reg(1), s.reg(2), s.reg(3)
	return func() {
		a.Op("VMULPS", x, x, u)
		if s.masked { // not (x^2 <= limit), which includes NaN
			a.Op("VCMPPS", "$6", limit, u, "K2")
			a.Op("KORTESTW", "K2", "K2")
		} else {
			a.Op("VCMPPS", "$6", limit, u, u)
			a.Op("VMOVMSKPS", u, "AX")
			a.Op("TESTL", "AX", "AX")
		}
		a.Op("JNZ", "stop")
		a.Op("VMOVAPS", round, n)
		a.Op("VFMADD231PS", x, perPi, n)
		a.Op("VSUBPS", round, n, u)
		a.Op("VFNMADD231PS", u, pi, x)
		a.Op("VFNMADD231PS", u, piRest, x)
		a.Op("VMULPS", x, x, u)
		a.Op("VMOVAPS", q[0], p)
		for _, next := range q[1:] {
			a.Op("VFMADD213PS", next, u, p)
		}
		a.Op("VPSLLD", "$31", n, n)
		if s.masked {
			a.Op("VPXORD", n, p, x)
		} else {
			a.Op("VXORPS", n, p, x)
		}
	}
}
