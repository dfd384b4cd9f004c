package kernel_test

import (
	"math"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/backend/ref"
	"github.com/kernel-fried-tensor/kft/kernel"
	"github.com/kernel-fried-tensor/kft/kernel/kerneltest"
)

func bound(t *testing.T, text string, c kernel.Columns) kernel.Kernel {
	t.Helper()
	k, err := kernel.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if k, err = kernel.Bind(k, c); err != nil {
		t.Fatal(err)
	}
	return k
}

func TestEveryKernel(t *testing.T) {
	t.Parallel()
	path, err := cpu.ChoosePath()
	if err != nil {
		t.Fatal(err)
	}
	b := cpu.New(path, 2)
	names := []string{"lat", "lon", "city=Ames", "city=Boone", "price", "a", "b", "c", "d", "e"}
	for _, text := range []string{
		"rbf", "matern12", "matern32", "matern52", "periodic:3", "constant",
		"rbf:ard", "matern12:ard", "matern32:ard", "matern52:ard", "periodic:3:ard",
		"rbf[lat,lon]+matern12:ard[city]", "rbf*periodic:5", "rbf*periodic:12+matern12",
		"(rbf[lat]+constant)*(matern32[lon]+matern52:ard)", "(rbf+matern12)+constant",
	} {
		for _, columns := range []int{4, len(names)} {
			k := bound(t, text, kernel.Columns{Count: columns, Names: names[:columns]})
			t.Run(text, func(t *testing.T) { kerneltest.Run(t, b, k, columns) })
		}
	}
}

func TestVectorFunctionsAgreeWithScalarLoops(t *testing.T) {
	t.Parallel()
	k := bound(t, "matern32", kernel.Columns{Count: 8})
	t.Run("vector", func(t *testing.T) { kerneltest.Run(t, vector{ref.Backend{}}, k, 8) })
	t.Run("plain", func(t *testing.T) { kerneltest.Run(t, ref.Backend{}, k, 8) })
}

// TestValues compares kernels at distance 1 with values calculated by hand.
func TestValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"rbf":                   math.Exp(-.5),
		"matern12":              math.Exp(-1),
		"matern32":              (1 + math.Sqrt(3)) * math.Exp(-math.Sqrt(3)),
		"matern52":              (1 + math.Sqrt(5) + 5./3) * math.Exp(-math.Sqrt(5)),
		"periodic:4":            math.Exp(-1), // sin^2(pi/4) = 1/2
		"periodic:1":            1,
		"constant":              1,
		"rbf+matern12*matern12": (math.Exp(-.5) + math.Exp(-2)) / 2,
	} {
		k := bound(t, text, kernel.Columns{Count: 1})
		if got := k.At([]float64{2}, []float64{3}); math.Abs(got-want) > 1e-14 {
			t.Errorf("%s: k = %v, want %v", text, got, want)
		}
	}
}

func TestPeriodsAreInRawUnits(t *testing.T) {
	t.Parallel()
	k := bound(t, "periodic:12", kernel.Columns{Count: 1, Unit: []float64{.25}})
	if got := k.At([]float64{0}, []float64{3}); math.Abs(got-1) > 1e-14 {
		t.Errorf("one period apart: k = %v, want 1", got)
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                        "unexpected end, want a kernel",
		"mattern32":               `did you mean "matern32"`,
		"rbf+":                    "unexpected end",
		"(rbf":                    "missing )",
		"rbf)":                    "want + or *",
		"periodic":                "invalid period",
		"periodic:0":              "invalid period",
		"periodic:NaN":            "invalid period",
		"periodic:-1":             "invalid period",
		"rbf:adr":                 `did you mean "ard"`,
		"rbf[lat":                 "missing ]",
		"rbf[]":                   "empty name",
		`rbf["a`:                  "missing closing quote",
		`rbf["a"b]`:               "want , or ]",
		"rbf rbf":                 "want + or *",
		"2*rbf":                   "unknown kernel",
		strings.Repeat("(", 1000): "parentheses",
	} {
		k, err := kernel.Parse(text)
		if err == nil {
			t.Errorf("%q: parsed as %s, want an error", text, k)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error is %q, want it to contain %q", text, err, want)
		}
	}
}

func TestTextForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		" rbf * periodic:12 + matern12 ": "rbf*periodic:12+matern12",
		"(rbf*matern12)*matern32":        "rbf*matern12*matern32",
		"(rbf+matern12)*constant":        "(rbf+matern12)*constant",
		"((rbf))":                        "rbf",
		"periodic:1e+30:ard":             "periodic:1e+30:ard",
		`rbf["a,b", c d ,"x\"y"]`:        `rbf["a,b",c d,"x\"y"]`,
		"rbf+(matern12+constant)":        "rbf+(matern12+constant)",
	} {
		k, err := kernel.Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if k.String() != want {
			t.Errorf("%q: text form is %q, want %q", text, k, want)
		}
		if again, err := kernel.Parse(k.String()); err != nil || again.String() != k.String() {
			t.Errorf("%q: parsing the text form gives %v, %v", k, again, err)
		}
	}
}

func TestBindErrors(t *testing.T) {
	t.Parallel()
	k, err := kernel.Parse("rbf[longitud]")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = kernel.Bind(k, kernel.Columns{Count: 2, Names: []string{"latitude", "longitude"}}); err == nil || !strings.Contains(err.Error(), `did you mean "longitude"`) {
		t.Errorf("unknown column: error is %v, want a hint", err)
	}
	if _, err = kernel.Bind(kernel.RBF(), kernel.Columns{}); err == nil {
		t.Error("no columns: got no error, want one")
	}
}

func TestUses(t *testing.T) {
	t.Parallel()
	k := bound(t, "rbf[a]+matern12[c]", kernel.Columns{Count: 3, Names: []string{"a", "b", "c"}})
	for c, want := range []bool{true, false, true} {
		if kernel.UsesColumn(k, c) != want {
			t.Errorf("column %d: got %v, want %v", c, !want, want)
		}
	}
}

// TestOrigins checks that a restriction may name the origin of several columns.
func TestOrigins(t *testing.T) {
	t.Parallel()
	columns := kernel.Columns{Count: 4, Names: []string{"month cos", "month sin", "city=Ames", "city other"}, Origins: []string{"month", "month", "city", "city"}}
	for text, want := range map[string][]bool{"rbf[month]": {true, true, false, false}, "rbf[city]": {false, false, true, true}, "rbf[city other,month sin]": {false, true, false, true}} {
		k := bound(t, text, columns)
		for c := range want {
			if kernel.UsesColumn(k, c) != want[c] {
				t.Errorf("%s, column %d: got %v, want %v", text, c, !want[c], want[c])
			}
		}
	}
	k := bound(t, "rbf[month]+matern12*periodic:3[city]", columns)
	for c, want := range []bool{false, false, true, true} {
		if kernel.PeriodicInColumn(k, c) != want {
			t.Errorf("column %d: periodic is %v, want %v", c, !want, want)
		}
	}
}

// TestNearPairsOfFarPoints checks a small distance between points far from the
// origin, which the form with products alone would lose.
func TestNearPairsOfFarPoints(t *testing.T) {
	t.Parallel()
	const columns = 12
	k := bound(t, "matern12", kernel.Columns{Count: columns})
	x := kernel.Rows{N: 2, C: columns, X: make([]float32, 2*columns)}
	for i := range x.X {
		x.X[i] = 100
	}
	x.X[0] += 1. / 1024
	g := make([]float32, 4)
	kernel.Gram(ref.Backend{}, g, k, x, x)
	want := math.Exp(-1. / 1024)
	if g[0] != 1 || g[3] != 1 || math.Abs(float64(g[1])-want) > 1e-6 {
		t.Errorf("got matrix %v, want %v off the diagonal", g, want)
	}
}

func TestInitLengthScales(t *testing.T) {
	t.Parallel()
	x := kernel.Rows{N: 3, C: 2, X: []float32{0, 0, 3, 4, 0, 0}}
	k := bound(t, "rbf:ard", kernel.Columns{Count: 2})
	kernel.InitLengthScales(k, x, 1)
	for _, p := range k.Params() {
		if math.Abs(p-math.Log(5)) > 1e-6 {
			t.Errorf("length-scale is %v, want 5, the only distance", math.Exp(p))
		}
	}
	kernel.InitLengthScales(k, kernel.Rows{N: 1, C: 2, X: x.X[:2]}, 1)
	if k.Params()[0] != 0 {
		t.Errorf("length-scale for a single row is %v, want 1", math.Exp(k.Params()[0]))
	}
	many := kernel.Rows{N: 1000, C: 2, X: make([]float32, 2000)}
	for i := range many.X {
		many.X[i] = float32(math.Sin(float64(i * i)))
	}
	kernel.InitLengthScales(k, many, 7)
	before := k.Params()[0]
	for i := range 500 {
		j := 999 - i
		for c := range 2 {
			many.X[2*i+c], many.X[2*j+c] = many.X[2*j+c], many.X[2*i+c]
		}
	}
	if kernel.InitLengthScales(k, many, 7); k.Params()[0] != before {
		t.Errorf("log length-scale for reversed rows is %v, want %v", k.Params()[0], before)
	}
}

// vector is a backend with array functions.
type vector struct{ ref.Backend }

func (vector) Exp(dst, src []float32) { apply(math.Exp, dst, src) }
func (vector) Cos(dst, src []float32) { apply(math.Cos, dst, src) }

func apply(f func(float64) float64, dst, src []float32) {
	for i, v := range src {
		dst[i] = float32(f(float64(v)))
	}
}
