package kernel

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// form is one entry of the table of base kernels. With s the squared scaled
// distance and e = exp(-a),
//
//	k     = (1 + c1 a + c2 a^2) e
//	dk/ds = -(h0 + h1 a + hinv/a) e
//
// where a = sqrt(order s), or s/2 for order 0. The spectral density of order 2
// nu is a Student t distribution with 2 nu degrees of freedom, a Gaussian for
// order 0.
type form struct {
	name   string
	order  int
	c1, c2 float64
	h0, h1 float64
	hinv   float64
}

var forms = []form{
	{name: "rbf", h0: .5},
	{name: "matern12", order: 1, hinv: .5},
	{name: "matern32", order: 3, c1: 1, h0: 1.5},
	{name: "matern52", order: 5, c1: 1, c2: 1. / 3, h0: 5. / 6, h1: 5. / 6},
}

func (f *form) exponent(s float64) float64 {
	if f.order == 0 {
		return s / 2
	}
	return math.Sqrt(float64(f.order) * s)
}

func (f *form) value(s float64) float64 {
	a := f.exponent(s)
	return (1 + f.c1*a + f.c2*a*a) * math.Exp(-a)
}

// RBF returns exp(-s/2).
func RBF() Kernel { return newBase(&forms[0]) }

// Matern12 returns exp(-sqrt s), the roughest kernel of the family.
func Matern12() Kernel { return newBase(&forms[1]) }

// Matern32 returns the once differentiable kernel of the family.
func Matern32() Kernel { return newBase(&forms[2]) }

// Matern52 returns the twice differentiable kernel of the family.
func Matern52() Kernel { return newBase(&forms[3]) }

// Periodic returns exp(-2 sin^2(pi d/p)/l^2), which is the RBF kernel of the
// points (cos, sin)(2 pi x/p).
func Periodic(period float64) Kernel {
	if !(period > 0) || math.IsInf(period, 0) {
		panic(fmt.Sprintf("kernel: invalid period %v; it must be positive and finite", period))
	}
	k := newBase(&forms[0])
	k.period = period
	return k
}

// OnColumns returns a copy of the kernel whose base kernels use only the named
// columns.
func OnColumns(k Kernel, columns ...string) Kernel {
	c := k.Clone()
	for _, b := range c.bases() {
		b.columns = slices.Clone(columns)
	}
	return c
}

// base is a base kernel over some columns.
type base struct {
	form    *form
	period  float64  // 0 if not periodic
	columns []string // names of the columns to use; nil means all
	ard     bool     // one length-scale per column

	// Set by bind:
	index     []int     // the columns it uses
	labels    []string  // their names
	cycle     []float64 // the period in units of each column, if periodic
	logLength []float64 // logarithms of the length-scales: one, or one per column
}

func newBase(f *form) *base { return &base{form: f, logLength: []float64{0}} }

func (k *base) name() string {
	if k.period > 0 {
		return "periodic"
	}
	return k.form.name
}

func (k *base) String() string {
	var s strings.Builder
	s.WriteString(k.name())
	if k.period > 0 {
		s.WriteString(":" + strconv.FormatFloat(k.period, 'g', -1, 64))
	}
	if k.ard {
		s.WriteString(":ard")
	}
	if k.columns != nil {
		quoted := make([]string, len(k.columns))
		for i, c := range k.columns {
			quoted[i] = quoteColumn(c)
		}
		s.WriteString("[" + strings.Join(quoted, ",") + "]")
	}
	return s.String()
}

func (k *base) precedence() int   { return 2 }
func (k *base) bases() []*base    { return []*base{k} }
func (k *base) Diagonal() float64 { return 1 }

func (k *base) Params() []float64 { return slices.Clone(k.logLength) }

func (k *base) SetParams(p []float64) {
	checkParams(len(p), len(k.logLength))
	copy(k.logLength, p)
}

func (k *base) ParamNames() []string {
	label := k.name()
	if k.columns != nil {
		label += "[" + strings.Join(k.columns, ",") + "]"
	}
	if !k.ard {
		return []string{label + " length"}
	}
	names := make([]string, len(k.logLength))
	for i := range names {
		names[i] = fmt.Sprintf("%s length of %s", label, k.labels[i])
	}
	return names
}

func (k *base) Clone() Kernel {
	c := *k
	c.columns, c.index = slices.Clone(k.columns), slices.Clone(k.index)
	c.cycle, c.logLength = slices.Clone(k.cycle), slices.Clone(k.logLength)
	return &c
}

func (k *base) bind(c Columns) error {
	k.index = nil
	if k.columns == nil {
		for i := range c.Count {
			k.index = append(k.index, i)
		}
	}
	for _, name := range k.columns {
		at, err := findColumns(name, c)
		if err != nil {
			return fielderr.Errorf("side.kernels", "kernel %s: %w", k, err)
		}
		for _, i := range at {
			if !slices.Contains(k.index, i) {
				k.index = append(k.index, i)
			}
		}
	}
	k.cycle = nil
	if k.period > 0 {
		for _, i := range k.index {
			unit := 1.0
			if c.Unit != nil {
				unit = c.Unit[i]
			}
			k.cycle = append(k.cycle, k.period*unit)
		}
	}
	lengths := 1
	if k.ard {
		lengths = len(k.index)
	}
	k.logLength = make([]float64, lengths)
	k.labels = nil
	for _, i := range k.index {
		label := fmt.Sprintf("column %d", i+1)
		if c.Names != nil {
			label = c.Names[i]
		}
		k.labels = append(k.labels, label)
	}
	return nil
}

// findColumns returns the columns that a name refers to: the column of that
// name, or those that an encoder made of it, such as "city=Ames" of "city".
func findColumns(name string, c Columns) ([]int, error) {
	var at []int
	origins := []string{}
	for i, n := range c.Names {
		origin, _, _ := strings.Cut(n, "=")
		if c.Origins != nil {
			origin = c.Origins[i]
		}
		if n == name || origin == name {
			at = append(at, i)
		}
		if !slices.Contains(origins, origin) {
			origins = append(origins, origin)
		}
	}
	if at == nil && slices.Contains(c.Dropped, name) {
		return nil, fmt.Errorf("column %q was dropped because it carries no information about the ids", name)
	}
	if at == nil {
		return nil, fmt.Errorf("unknown column %q%s", name, suggest.Hint(name, origins))
	}
	return at, nil
}

func (k *base) mustBeBound() {
	if k.index == nil {
		panic(fmt.Sprintf("kernel: %s is not bound to columns", k))
	}
}

// width returns the number of coordinates in which distances are computed.
func (k *base) width() int {
	if k.period > 0 {
		return 2 * len(k.index)
	}
	return len(k.index)
}

// parameter returns the index of the length-scale of coordinate e.
func (k *base) parameter(e int) int {
	if !k.ard {
		return 0
	}
	if k.period > 0 {
		return e / 2
	}
	return e
}

// embed writes the coordinates of one point, each times its inverse
// length-scale. The coordinates of a periodic kernel are (cos, sin)(2 pi x/p)
// for each column.
func embed[T float32 | float64](k *base, dst, x []T, inverse []float64) {
	if k.period == 0 {
		for e, c := range k.index {
			dst[e] = T(float64(x[c]) * inverse[e])
		}
		return
	}
	for i, c := range k.index {
		sin, cos := math.Sincos(2 * math.Pi * float64(x[c]) / k.cycle[i])
		dst[2*i], dst[2*i+1] = T(cos*inverse[2*i]), T(sin*inverse[2*i+1])
	}
}

// inverse returns 1/l per coordinate.
func (k *base) inverse() []float64 {
	inv := make([]float64, k.width())
	for e := range inv {
		inv[e] = math.Exp(-k.logLength[k.parameter(e)])
	}
	return inv
}

func (k *base) At(x, z []float64) float64 {
	k.mustBeBound()
	inv := k.inverse()
	u, v := make([]float64, len(inv)), make([]float64, len(inv))
	embed(k, u, x, inv)
	embed(k, v, z, inv)
	s := 0.0
	for e := range u {
		s += (u[e] - v[e]) * (u[e] - v[e])
	}
	return k.form.value(s)
}
