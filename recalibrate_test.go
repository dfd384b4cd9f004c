package kft_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
)

// halves writes the rows of a table alternately to two tables.
func halves(t testing.TB, table string) (first, second string) {
	t.Helper()
	lines := strings.SplitAfter(readFile(t, table), "\n")
	texts := [2]string{lines[0], lines[0]}
	for i, line := range lines[1:] {
		texts[i%2] += line
	}
	return writeFile(t, "first.csv", texts[0]), writeFile(t, "second.csv", texts[1])
}

// TestRecalibrate checks that a conformal correction from new rows gives an overconfident
// model correct coverage, that it is saved with the model, and that the original model
// does not change.
func TestRecalibrate(t *testing.T) {
	t.Parallel()
	fitted, rest := halves(t, testtable.WriteSales(t, 6000))
	held, test := halves(t, rest)
	m := fitUncertain(t, fitted, kft.UncertaintySpec{Conformal: "none"}, func(s *kft.Spec) { s.Split = "random:90/10" })
	calibration := func(m *kft.Model) *kft.Calibration {
		t.Helper()
		score, _, err := m.Evaluate(t.Context(), kft.Files(test), kft.TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return score.Calibration
	}
	before := calibration(m)
	for _, kind := range []string{"split", "group:mean", "group:store", "group:time"} {
		corrected, sum, err := m.Recalibrate(t.Context(), kft.Files(held), kind, kft.TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if sum.Fitted || sum.Rows != 1500 {
			t.Errorf("%s: got summary %+v, want 1500 rows that were not fitted", kind, sum)
		}
		if c := corrected.Uncertainty().Conformal; c == nil || c.Kind != kind || c.Rows != 1500 {
			t.Errorf("%s: got correction %+v, want kind %s of 1500 rows", kind, c, kind)
		}
		if got := corrected.Spec().Uncertainty.Conformal; got != kind {
			t.Errorf("%s: got uncertainty.conformal %q in the specification, want %q", kind, got, kind)
		}
		// 1,500 rows calibrate and 1,500 rows measure, so Xi is not exactly 0.
		after := calibration(corrected)
		if after.Xi > 0.1 || math.Abs(float64(after.Coverage90)-0.9) > 0.03 {
			t.Errorf("%s: got Xi %.3f (before: %.3f) and coverage %.3f, want at most 0.1 and 0.9 +- 0.03", kind, after.Xi, before.Xi, after.Coverage90)
		}
		opt := kft.TableOptions{Quantiles: threeLevels()}
		if predictFile(t, corrected, held, opt) != predictFile(t, reload(t, corrected), held, opt) {
			t.Errorf("%s: got other predictions from the loaded model, want equal ones", kind)
		}
	}
	if got := m.Spec().Uncertainty.Conformal; m.Uncertainty().Conformal != nil || got != "none" {
		t.Errorf("original model: got correction %+v and uncertainty.conformal %q, want none", m.Uncertainty().Conformal, got)
	}
	_, sum, err := m.Recalibrate(t.Context(), kft.Files(fitted), "split", kft.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !sum.Fitted {
		t.Errorf("fitted table: got summary %+v, want Fitted", sum)
	}
}

func TestRecalibrateRejectsInvalidInput(t *testing.T) {
	t.Parallel()
	m := fitUncertain(t, testtable.WriteSales(t, 600), kft.UncertaintySpec{Inference: "mean-field", Likelihood: "poisson", Conformal: "none"}, nil)
	tableOf := func(rows string) kft.Source {
		return kft.Reader("calibration rows", strings.NewReader("year,month,store,item,units\n"+rows))
	}
	few := strings.Repeat("2015,1,s1,i1,4\n", 18)
	_, _, err := m.Recalibrate(t.Context(), tableOf(few), "split", kft.TableOptions{})
	checkErrorText(t, err, "18 calibration rows")
	var tooFew *kft.TooFewRowsError
	if !errors.As(err, &tooFew) || tooFew.Needed != 19 {
		t.Errorf("18 rows: got error %v, want a *kft.TooFewRowsError that needs 19", err)
	}
	if _, _, err := m.Recalibrate(t.Context(), tableOf(few+"2015,1,s1,i1,0\n"), "split", kft.TableOptions{}); err != nil {
		t.Errorf("19 rows: got error %v, want none", err)
	}
	for _, test := range []struct{ name, rows, kind, want string }{
		{"no target", "2015,1,s1,i1,\n", "split", "no row has a value in column units"},
		{"negative", few + "2015,1,s1,i1,-2\n", "split", "data row 19, column units: the target -2 is not a count"},
		{"fractional", few + "2015,1,s1,i1,1.5\n", "split", "data row 19, column units: the target 1.5 is not a count"},
		{"misspelled mode", few, "group:stor", `did you mean "store"?`},
		{"unknown kind", few, "groups", "groups"},
		{"none", few, "none", "split, group:mean, group:MODE or horizon"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := m.Recalibrate(t.Context(), tableOf(test.rows), test.kind, kft.TableOptions{})
			checkErrorText(t, err, test.want)
		})
	}
	fractional := few + "2015,1,s1,i1,1.5\n"
	_, _, err = m.Evaluate(t.Context(), tableOf(fractional), kft.TableOptions{})
	checkErrorText(t, err, "data row 19, column units")
	_, err = m.Map(t.Context(), tableOf(fractional), kft.MapOptions{Rows: "store", Part: kft.Unused})
	checkErrorText(t, err, "data row 19, column units")
}
