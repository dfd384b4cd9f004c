package kft_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// Of a random split nothing tells a fit that ids to come have no rows; additive
// predicts them from a table that determines them all the same.
func TestAdditiveLearnsTheTable(t *testing.T) {
	var sales, old, fresh, later strings.Builder
	sales.WriteString("store,item,y\n")
	later.WriteString("store,item,y\n")
	old.WriteString("store,size\n")
	fresh.WriteString("store,size\n")
	for s := range 40 {
		size := float64(s*17%40)/20 - 1
		rows, table := &sales, &old
		if s >= 32 {
			rows, table = &later, &fresh
		}
		fmt.Fprintf(table, "s%d,%.4f\n", s, size)
		for i := range 12 {
			fmt.Fprintf(rows, "s%d,i%d,%.4f\n", s, i, (1+2*size)*(1+float64(i)/6))
		}
	}
	dir := &shop{dir: t.TempDir()}
	table := dir.write(t, "sales.csv", sales.String())
	for _, space := range []string{"primal", "dual"} {
		m, _ := fitSales(t, kft.Spec{
			Version: 1, Data: kft.DataSpec{Files: []string{table}, Target: "y", Modes: []string{"store", "item"}},
			Terms: []string{"store,item:2"}, Side: kft.SideSpec{Tables: []string{"store=" + dir.write(t, "old.csv", old.String())}, Variant: "additive", Space: space},
			Fit: kft.FitSpec{Sweeps: 10, Ridge: "uniform", Lambda: kft.LambdaOf(1)},
		}, kft.Options{})
		m = withSide(t, m, "store="+dir.write(t, "fresh.csv", fresh.String()))
		score, sum, err := m.Evaluate(t.Context(), kft.Files(dir.write(t, "later.csv", later.String())), kft.TableOptions{})
		if err != nil || sum.Side[0] != 96 {
			t.Fatalf("%+v, %v", sum, err)
		}
		if !(score.R2 > 0.9) {
			t.Errorf("%s: R2 of stores without rows is %.3f", space, score.R2)
		}
	}
}

// Which ids come first, in the data and in the side tables, and what they are
// called changes nothing but the names.
func TestSidePermutation(t *testing.T) {
	s := newShop(t, 16, 20, nil)
	spec := func(folder *shop, variant, space string) kft.Spec {
		spec := folder.spec(variant, space)
		spec.Split = "column:part"
		spec.Side.Tables = append(spec.Side.Tables, "month=@month:num")
		return spec
	}
	lines := strings.Split(strings.TrimSpace(s.read(t, "sales.csv")), "\n")
	for i := range lines {
		part := "train"
		if i == 0 {
			part = "part"
		} else if i%5 == 0 {
			part = "valid"
		} else if i%5 == 1 {
			part = "test"
		}
		lines[i] += "," + part
	}
	s.write(t, "sales.csv", strings.Join(lines, "\n")+"\n")
	// The other folder has the rows of each table backwards, and ids renamed so that
	// their order by name is another too.
	other := &shop{dir: t.TempDir()}
	rename := func(line string) string {
		id, rest, _ := strings.Cut(line, ",")
		if strings.HasPrefix(id, "s") {
			var n int
			fmt.Sscanf(id, "s%d", &n)
			return fmt.Sprintf("z%d,%s", 99-n, rest)
		}
		return line
	}
	for _, name := range []string{"sales.csv", "stores.csv", "items.csv"} {
		lines := strings.Split(strings.TrimSpace(s.read(t, name)), "\n")
		rows := lines[1:]
		slices.Reverse(rows)
		if name != "items.csv" {
			for i := range rows {
				rows[i] = rename(rows[i])
			}
		}
		other.write(t, name, strings.Join(lines, "\n")+"\n")
	}
	for _, c := range []struct {
		variant, space string
		within         float64 // free weights start at random, an id after another
	}{
		{"side", "primal", 1e-4}, {"side", "dual", 2e-3}, {"side", "dual-rff", 5e-3}, {"wlr", "primal", 0.01}, {"wlr", "dual", 0.01}, {"additive", "dual", 0.02},
	} {
		_, a := fitSales(t, spec(s, c.variant, c.space), kft.Options{})
		_, b := fitSales(t, spec(other, c.variant, c.space), kft.Options{})
		if math.Abs(a.Test.R2Scale-b.Test.R2Scale) > c.within || math.Abs(a.Train.R2Scale-b.Train.R2Scale) > c.within {
			t.Errorf("%s %s: R2 %.5f and %.5f, permuted %.5f and %.5f", c.variant, c.space, a.Train.R2Scale, a.Test.R2Scale, b.Train.R2Scale, b.Test.R2Scale)
		}
		if a.Test.R2Scale < 0.5 {
			t.Errorf("%s %s: R2 %.3f says nothing", c.variant, c.space, a.Test.R2Scale)
		}
	}
}

// What was asked for of side information and has no effect is told.
func TestSideWithoutEffect(t *testing.T) {
	s := newShop(t, 16, 20, nil)
	spec := s.spec("wlr", "dual-unwhitened")
	spec.Terms = []string{"store,month:2", "item,month:2@plain"}
	spec.Side.Kernels = []string{"matern32", "month=rbf"}
	spec.Side.LengthScales = "learn"
	_, r := fitSales(t, spec, kft.Options{})
	for _, want := range []string{
		"the side information of item has no effect: every term with a core of item has the variant plain",
		"kernel month=rbf has no effect: mode month has no side information",
		"length-scales cannot be learned in the space dual-unwhitened; set side.space to dual",
	} {
		if !slices.Contains(r.Warnings, want) {
			t.Errorf("%q is not among %q", want, r.Warnings)
		}
	}
	_, r = fitSales(t, s.spec("wlr", "dual"), kft.Options{})
	for _, warning := range r.Warnings {
		if strings.Contains(warning, "effect") {
			t.Error(warning)
		}
	}
}

// Learned length-scales are reported by column, and stay in a saved model.
func TestLearnedIsReported(t *testing.T) {
	s := newShop(t, 16, 20, nil)
	spec := s.spec("wlr", "dual")
	spec.Side.Kernels, spec.Side.LengthScales = []string{"matern32", "item=rbf:ard[price]"}, "learn"
	m, r := fitSales(t, spec, kft.Options{})
	var names []string
	moved := false
	for _, side := range r.Side {
		for _, l := range side.Learned {
			names = append(names, side.Mode+": "+l.Name)
			moved = moved || l.Start != l.End
			if !(l.Start > 0 && l.End > 0) {
				t.Errorf("%+v", l)
			}
		}
	}
	if want := []string{"store: intercept", "store: matern32 length", "item: intercept", "item: rbf[price] length of price"}; !slices.Equal(names, want) || !moved {
		t.Errorf("learned %q, moved %v", names, moved)
	}
	if got := loaded(t, saved(t, m)).Record().Side; fmt.Sprint(got) != fmt.Sprint(r.Side) {
		t.Errorf("saved %v, reported %v", got, r.Side)
	}
}
