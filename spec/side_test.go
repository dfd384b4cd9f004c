package spec

import (
	"slices"
	"strings"
	"testing"
)

func TestValidateSide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*Side)
		want   []string // problems; nil for none
	}{
		{"none", func(*Side) {}, nil},
		{"tables", func(s *Side) { s.Tables = []string{"store=s.csv", "time=@year"} }, nil},
		{"unknown mode", func(s *Side) { s.Tables = []string{"stor=s.csv"} }, []string{`side.tables[0]: unknown mode "stor" (did you mean "store"?)`}},
		{"a table and computed columns of a mode", func(s *Side) { s.Tables = []string{"time=w.csv", "store=s.csv", "time=@year"} }, nil},
		{"a table and two entries of computed columns", func(s *Side) { s.Tables = []string{"time=w.csv", "time=@year", "time=@month"} },
			[]string{`side.tables[2]: mode "time" already has the side table time=w.csv`}},
		{"two tables of a mode", func(s *Side) { s.Tables = []string{"store=s.csv", "store=t.csv"} },
			[]string{`side.tables[1]: mode "store" already has the side table store=s.csv; join the two into one`}},
		{"variant without tables", func(s *Side) { s.Variant = "wlr" }, []string{"side.variant: wlr requires side information; set side.tables"}},
		{"variant", func(s *Side) { s.Variant = "wrl" }, []string{`side.variant: unknown value "wrl"`}},
		{"space", func(s *Side) { s.Space = "dua" }, []string{`side.space: unknown value "dua"`, `did you mean "dual"?`}},
		{"kernel", func(s *Side) { s.Tables, s.Kernels = []string{"store=s.csv"}, []string{"item=rbf", "matern"} }, []string{"side.kernels[1]: "}},
		{"kernel of an unknown mode", func(s *Side) { s.Tables, s.Kernels = []string{"store=s.csv"}, []string{"shop=rbf"} }, []string{`side.kernels[0]: unknown mode "shop"`}},
		{"columns", func(s *Side) { s.Columns = -1 }, []string{"side.columns: must be 1 or more"}},
		{"intercept and length-scales", func(s *Side) { s.Intercept, s.LengthScales = "maybe", "learned" },
			[]string{"side.intercept: ", "side.length-scales: "}},
		{"placebo", func(s *Side) { s.Tables, s.Placebo = []string{"store=s.csv"}, "noise:store" }, nil},
		{"unknown placebo", func(s *Side) { s.Tables, s.Placebo = []string{"store=s.csv"}, "nose" }, []string{`side.placebo: "nose" is neither constant nor noise (did you mean "noise"?)`}},
		{"placebo without tables", func(s *Side) { s.Placebo = "noise" }, []string{"side.placebo: there is no side table to replace; set side.tables"}},
		{"placebo of a mode without table", func(s *Side) { s.Tables, s.Placebo = []string{"store=s.csv"}, "noise:item" }, []string{`side.placebo: mode "item" has no side table to replace`}},
		{"placebo of an unknown mode", func(s *Side) { s.Tables, s.Placebo = []string{"store=s.csv"}, "noise:shop" }, []string{`side.placebo: unknown mode "shop"`}},
	} {
		s := Spec{Data: Data{Target: "y", Modes: []string{"store", "item", "time=year+month"}}}
		c.change(&s.Side)
		s.Fill()
		err := s.Validate()
		if (err == nil) != (c.want == nil) {
			t.Errorf("%s: got error %v, want %q", c.name, err, c.want)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got error\n%v\nwant one with %q", c.name, err, want)
			}
		}
	}
}

// The prior of multivariate is the kernel's in whitened coordinates only.
func TestMultivariateNeedsWhitenedSpace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		inference, space string
		tables           []string
		valid            bool
	}{
		{"multivariate", "dual-unwhitened", []string{"store=s.csv"}, false},
		{"multivariate", "dual", []string{"store=s.csv"}, true},
		{"mean-field", "dual-unwhitened", []string{"store=s.csv"}, true},
		{"map", "dual-unwhitened", []string{"store=s.csv"}, true},
		{"multivariate", "dual-unwhitened", nil, true}, // the space has no effect
	} {
		s := Spec{Data: Data{Target: "y", Modes: []string{"store", "item"}}}
		s.Side.Tables, s.Side.Space, s.Uncertainty.Inference = c.tables, c.space, c.inference
		s.Fill()
		err := s.Validate()
		if (err == nil) != c.valid || err != nil && (!strings.Contains(err.Error(), "side.space: ") || !strings.Contains(err.Error(), "set side.space to dual,")) {
			t.Errorf("%s, %s, tables %v: got error %v, want valid %v or a problem of side.space", c.inference, c.space, c.tables, err, c.valid)
		}
	}
}

func TestKernelAndPlaceboOfMode(t *testing.T) {
	t.Parallel()
	s := Side{Kernels: []string{"time=periodic:12", "rbf"}, Placebo: "noise:store"}
	got := []string{s.KernelOf("time"), s.KernelOf("store"), Side{}.KernelOf("store"), s.PlaceboOf("store"), s.PlaceboOf("time"), Side{Placebo: "constant"}.PlaceboOf("time")}
	if want := []string{"periodic:12", "rbf", "matern32", "noise", "", "constant"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
