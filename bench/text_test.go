package bench

import (
	"strings"
	"testing"
)

func TestWriteText(t *testing.T) {
	yes, no := true, false
	r := &Result{Path: "avx2", Threads: 2, OS: "linux", Arch: "amd64", Go: "go1.26", Table: "synthetic", Seconds: 12.34, Measures: []Measure{
		{Group: "dense", Name: "FMA peak, 1 thread", Value: 163.4, Unit: "GFLOP/s"},
		{Group: "dense", Name: "GEMM", Value: 87.65, Unit: "GFLOP/s", Ratio: 0.5364, RatioOf: "FMA peak", Target: atLeast(0.85), OK: &no},
		{Group: "functions", Name: "exp", Value: 0.1724, Unit: "ns", Ratio: 225.1, RatioOf: "math", Target: atLeast(20), OK: &yes},
		{Group: "functions", Name: "exp, largest error", Value: 6.99e-8, Unit: "relative", Target: atMost(1e-6), OK: &yes},
	}}
	var out strings.Builder
	r.WriteText(&out)
	want := `cpu avx2, 2 threads, linux/amd64, go1.26, 12.3 s
table: synthetic

dense                 value         ratio             target   reached
  FMA peak, 1 thread  163 GFLOP/s
  GEMM                87.7 GFLOP/s  54 % of FMA peak  >= 85 %  no

functions             value              ratio       target             reached
  exp                 0.172 ns           225 x math  >= 20 x            yes
  exp, largest error  6.99e-08 relative              <= 1e-06 relative  yes
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

func TestTargetReached(t *testing.T) {
	for _, c := range []struct {
		target *Target
		x      float64
		want   bool
	}{{atLeast(2), 2, true}, {atLeast(2), 1.9, false}, {atMost(2), 2, true}, {atMost(2), 2.1, false}, {atMost(2), 0, true}} {
		if have := c.target.reached(c.x); have != c.want {
			t.Errorf("%+v reached by %v: got %v, want %v", *c.target, c.x, have, c.want)
		}
	}
}
