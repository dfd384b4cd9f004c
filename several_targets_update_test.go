package kft_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// A model of two targets takes in rows of a new item almost as a fit with these rows does,
// in any number of parts, keeps them in its file, lets them go again, and is calibrated for
// each target.
func TestUpdateOfSeveralTargets(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSpace(salesAndRevenue(randstream.New(3, "two targets"))), "\n")
	head, lines := lines[0], lines[1:]
	var known, taken, rest []string // rows of I29 in the first stores are taken in
	for _, line := range lines {
		store, item := 0, 0
		if _, err := fmt.Sscanf(line, "S%d,I%d,", &store, &item); err != nil {
			t.Fatal(err)
		}
		switch {
		case item != 29:
			known = append(known, line)
		case store < 5:
			taken = append(taken, line)
		default:
			rest = append(rest, line)
		}
	}
	file := func(name string, rows ...[]string) string {
		text := head + "\n"
		for _, r := range rows {
			text += strings.Join(r, "\n") + "\n"
		}
		return writeFile(t, name, text)
	}
	spec := kft.Spec{
		Data:        kft.DataSpec{Files: []string{file("known.csv", known)}, Target: "units,revenue", Modes: []string{"store", "item", "month"}},
		Terms:       []string{"store", "item", "item*target", "month", "target"},
		Transform:   "log1p",
		Uncertainty: kft.UncertaintySpec{Inference: "mean-field", Conformal: "none"},
	}
	before, _ := fit(t, spec, kft.Options{})
	spec.Data.Files = []string{file("all.csv", known, taken)}
	refit, _ := fit(t, spec, kft.Options{})
	take := func(m *kft.Model, opt kft.UpdateOptions, rows []string) *kft.Model {
		t.Helper()
		updated, _, err := m.Update(t.Context(), kft.Files(file("new.csv", rows)), kft.TableOptions{}, opt)
		if err != nil {
			t.Fatal(err)
		}
		return updated
	}
	updated := take(before, kft.UpdateOptions{Late: true}, taken)
	measured := kft.Files(file("rest.csv", rest))
	mae := func(m *kft.Model, target string) float64 {
		t.Helper()
		one, err := m.ForTarget(target)
		if err != nil {
			t.Fatal(err)
		}
		s, _, err := one.Evaluate(t.Context(), measured, kft.TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return s.MAE
	}
	halves := reload(t, take(take(before, kft.UpdateOptions{Late: true}, taken[:7]), kft.UpdateOptions{Late: true}, taken[7:]))
	without := take(updated, kft.UpdateOptions{Remove: true}, taken)
	for _, target := range before.Targets() {
		cold, now, best := mae(before, target), mae(updated, target), mae(refit, target)
		if now > 1.05*best || now > 0.8*cold {
			t.Errorf("%s: MAE %.3f before, %.3f after the update, %.3f of a refit", target, cold, now, best)
		}
		if two := mae(halves, target); math.Abs(two/now-1) > 1e-4 {
			t.Errorf("%s: MAE %.6f after two updates and reloading, %.6f after one", target, two, now)
		}
		if out := mae(without, target); math.Abs(out/cold-1) > 1e-4 {
			t.Errorf("%s: MAE %.6f without the rows taken in, %.6f before", target, out, cold)
		}
	}

	calibrated, _, err := updated.Recalibrate(t.Context(), measured, "group:target", kft.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c := calibrated.Uncertainty().Conformal; c == nil || c.Rows < len(rest)*3/2 {
		t.Errorf("got correction %+v from %d rows of two targets", c, len(rest))
	}
	for _, target := range calibrated.Targets() {
		one, _ := calibrated.ForTarget(target)
		s, _, err := one.Evaluate(t.Context(), measured, kft.TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if share := float64(s.Calibration.Coverage90); share < 0.82 || share > 0.96 {
			t.Errorf("%s: 90 %% intervals contain %.1f %%", target, 100*share)
		}
	}
	if _, _, err := updated.Recalibrate(t.Context(), measured, "group:mean", kft.TableOptions{}); err == nil {
		t.Error("several targets have a correction by the size of predictions")
	}
}
