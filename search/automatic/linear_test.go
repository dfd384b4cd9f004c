package automatic_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// Many covariates of which each tells little are used together: their curves alone explain nothing, or much less than half of
// what can be explained. Cells are predicted alike after loading, also if a number is missing.
func TestLinearFunction(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		rows   int
		shared float64 // of the covariates
		slope  float64
		least  float64 // R2 of new rows
	}{
		{"weak", 700, 0, 0.13, 0.11}, // of .20
		{"few rows", 240, 0, 0.13, 0.07},
		{"correlated", 700, 3, 0.4, 0.68},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(8, 3))
			var text strings.Builder
			const covariates = 15
			for k := range covariates {
				fmt.Fprintf(&text, "x%d,", k)
			}
			text.WriteString("y\n")
			for i := range c.rows {
				common, y := c.shared*rng.NormFloat64(), rng.NormFloat64()
				for k := range covariates {
					own := rng.NormFloat64()
					y += c.slope * own * float64(1-2*(k%2))
					if i%50 == 0 && k == 3 {
						text.WriteString(",")
						continue
					}
					fmt.Fprintf(&text, "%.3f,", common+own)
				}
				fmt.Fprintf(&text, "%.3f\n", y)
			}
			file := filepath.Join(t.TempDir(), "t.csv")
			writeFile(t, file, text.String())
			m, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}, Target: "y"}}, train.Options{Threads: 1})
			if !slices.Contains(r.Spec.Terms, "linear") || float64(r.Test.R2) < c.least {
				t.Errorf("got R2 %.3f with the terms %q, want %.2f and a linear function", r.Test.R2, r.Spec.Terms, c.least)
			}
			var file2 bytes.Buffer
			if _, err := m.WriteTo(&file2); err != nil {
				t.Fatal(err)
			}
			loaded, err := model.Read(&file2, "model")
			if err != nil {
				t.Fatal(err)
			}
			cell := model.Cell{}
			for k := range covariates {
				cell[fmt.Sprintf("x%d", k)] = "0.5"
			}
			without := model.Cell{}
			for name, value := range cell {
				without[name] = value
			}
			without["x3"] = ""
			var predicted [2][]model.Prediction
			for i, one := range []*model.Model{m, loaded} {
				if predicted[i], err = one.Predict(t.Context(), []model.Cell{cell, without}, false); err != nil {
					t.Fatal(err)
				}
			}
			for i := range predicted[0] {
				if predicted[0][i].Mean != predicted[1][i].Mean {
					t.Errorf("got %g, after loading %g", predicted[0][i].Mean, predicted[1][i].Mean)
				}
			}
		})
	}
}

// Where lines leave hardly anything, neither bins nor interactions that were chosen before the line are in their way: new
// rows have errors as small as those of least squares.
func TestNearlyExactLine(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 7))
	var text strings.Builder
	text.WriteString("grade,pressure,flow,load,output\n")
	const noise = 0.02
	for range 600 {
		grade, pressure, flow, load := rng.IntN(3), rng.NormFloat64(), 50+10*rng.NormFloat64(), 300+100*rng.NormFloat64()
		fmt.Fprintf(&text, "%c,%.3f,%.3f,%.3f,%.4f\n", 'a'+grade, pressure, flow, load, 3+float64(grade)+2*pressure-0.5*flow+0.03*load+noise*rng.NormFloat64())
	}
	file := filepath.Join(t.TempDir(), "t.csv")
	writeFile(t, file, text.String())
	_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}, Target: "output"}}, train.Options{Threads: 1})
	if rmse := float64(r.Test.RMSE); !slices.Contains(r.Spec.Terms, "linear") || rmse > 1.25*noise {
		t.Errorf("got RMSE %.4f with the terms %q, want about %.2f and a linear function", rmse, r.Spec.Terms, noise)
	}
}

// Columns may have the names that functions of covariates have by default.
func TestLinearFunctionBesideItsName(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 9))
	var text strings.Builder
	text.WriteString("linear,joint,a,b,c,d,e,f,y\n")
	for range 300 {
		common, y := 2*rng.NormFloat64(), rng.NormFloat64()
		fmt.Fprintf(&text, "%c,", 'p'+rng.IntN(3))
		for k := range 7 {
			own := rng.NormFloat64()
			y += own * float64(1-2*(k%2))
			fmt.Fprintf(&text, "%.3f,", common+own)
		}
		fmt.Fprintf(&text, "%.3f\n", y)
	}
	file := filepath.Join(t.TempDir(), "t.csv")
	writeFile(t, file, text.String())
	m, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}, Target: "y"}}, train.Options{Threads: 1})
	if !slices.Contains(r.Spec.Data.Modes, "linear2=linear(joint+a+b+c+d+e+f)") || float64(r.Test.R2) < 0.7 {
		t.Errorf("got R2 %.3f with the modes %q, want 0.7 and a linear function called linear2", r.Test.R2, r.Spec.Data.Modes)
	}
	cell := model.Cell{"linear": "p", "joint": "1", "a": "1", "b": "1", "c": "0", "d": "1", "e": "1", "f": "1"}
	if _, err := m.Predict(t.Context(), []model.Cell{cell}, false); err != nil {
		t.Error(err)
	}
}

// A forecast has a linear function of its covariates too.
func TestLinearFunctionOfForecasts(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 1))
	var text strings.Builder
	text.WriteString("store,month,a,b,c,d,y\n")
	for s := range 6 {
		for i := range 40 {
			fmt.Fprintf(&text, "s%d,%d-%02d", s, 2020+i/12, i%12+1)
			common, y := 2*rng.NormFloat64(), 10+float64(s)+rng.NormFloat64()/2
			for k := range 4 {
				own := rng.NormFloat64()
				y += own * float64(1-2*(k%2))
				fmt.Fprintf(&text, ",%.3f", common+own)
			}
			fmt.Fprintf(&text, ",%.3f\n", y)
		}
	}
	file := filepath.Join(t.TempDir(), "t.csv")
	writeFile(t, file, text.String())
	s := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "y", Modes: []string{"store", "month"}, Covariates: []string{"a", "b", "c", "d"}}, Split: "time:last=3"}
	_, r := mustFit(t, s, train.Options{Threads: 1})
	if !slices.Contains(r.Spec.Terms, "linear") {
		t.Errorf("got the terms %q, want a linear function", r.Spec.Terms)
	}
}
