package kft_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft"
)

// An attackedFit is a fit that was stopped, and its checkpoint.
type attackedFit struct {
	spec       kft.Spec
	checkpoint []byte
}

// attackCheckpoints returns checkpoints of all solvers, by name.
func attackCheckpoints(t testing.TB) map[string]attackedFit {
	t.Helper()
	s := newShop(t, 5, 6, nil)
	counts := s.write(t, "counts.csv", attackCountTable())
	fits := map[string]attackedFit{}
	add := func(name string, spec kft.Spec, blocks int, change func(*kft.Spec)) {
		spec.Terms = []string{"store,item,month:2"}
		if change != nil {
			change(&spec)
		}
		folder := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		seen := 0
		_, _, err := kft.Fit(ctx, spec, kft.Source{}, kft.Options{Checkpoint: folder, Progress: func(e kft.Event) {
			if e.Fit != nil && e.Fit.Point == nil {
				if seen++; seen == blocks {
					cancel()
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		fits[name] = attackedFit{spec, []byte(readFile(t, filepath.Join(folder, "checkpoint.kft")))}
	}
	search := func(x *kft.Spec) { x.Fit = kft.FitSpec{Sweeps: 4} }
	posterior := func(x *kft.Spec) { x.Uncertainty.Inference, x.Fit = "mean-field", kft.FitSpec{Sweeps: 4} }
	add("als", s.plainSpec(), 5, nil)
	add("als, done", s.plainSpec(), 1000, nil)
	add("als, search", s.plainSpec(), 40, search)
	add("als, side", s.spec("wlr", "dual"), 7, nil)
	add("adam", s.plainSpec(), 2, func(x *kft.Spec) { x.Fit.Solver, x.Fit.Epochs = "adam", 3 })
	add("adam, posterior", s.plainSpec(), 2, func(x *kft.Spec) {
		posterior(x)
		x.Fit = kft.FitSpec{Solver: "adam", Epochs: 4}
	})
	add("cavi", s.plainSpec(), 5, posterior)
	add("cavi, noise in training", s.plainSpec(), 8, func(x *kft.Spec) {
		posterior(x)
		x.Uncertainty.Noise, x.Uncertainty.NoiseUse = "entity:store", "fit"
	})
	add("cavi, kernels learned", s.spec("side", "dual"), 5, func(x *kft.Spec) {
		posterior(x)
		x.Side.LengthScales = "learn"
	})
	for name, blocks := range map[string]int{"cavi, pruned": 125, "cavi, first run pruned": 200} {
		add(name, s.plainSpec(), blocks, func(x *kft.Spec) {
			posterior(x)
			x.Terms, x.Fit.Sweeps = []string{"store", "item", "month", "store,item,month:5"}, 25
		})
	}
	add("counts", s.plainSpec(), 5, func(x *kft.Spec) {
		x.Data = kft.DataSpec{Files: []string{counts}, Target: "units", Modes: []string{"store", "item", "month=year+month"}}
		x.Transform, x.Uncertainty.Likelihood = "identity", "negative-binomial"
		posterior(x)
	})
	return fits
}

// attackCheckpoint resumes a fit from a crafted checkpoint. It returns a problem, "" for
// none.
func attackCheckpoint(t testing.TB, folder string, fit attackedFit, data []byte) (refused bool, problem string) {
	defer func() {
		if p := recover(); p != nil {
			problem = fmt.Sprintf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	if err := os.WriteFile(filepath.Join(folder, "checkpoint.kft"), data, 0o666); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(folder, "checkpoint-before.kft"))
	before := allocated()
	m, _, err := kft.Fit(t.Context(), fit.spec, kft.Source{}, kft.Options{Threads: 1, Checkpoint: folder, Resume: true, CheckpointEvery: time.Hour})
	if used := allocated() - before; used > uint64(10*len(data)+attackMemory) {
		return false, fmt.Sprintf("%d MB allocated for a file of %d bytes", used>>20, len(data))
	}
	if err != nil {
		return true, ""
	}
	return false, useModel(t, m)
}

// TestAttackCheckpoints resumes fits from checkpoints whose content was changed at random
// and whose checksum is right. None may crash, hang or take much memory.
func TestAttackCheckpoints(t *testing.T) {
	fits := attackCheckpoints(t)
	names := slices.Sorted(maps.Keys(fits))
	folder := t.TempDir()
	for _, name := range names {
		if refused, problem := attackCheckpoint(t, folder, fits[name], fits[name].checkpoint); refused || problem != "" {
			t.Fatalf("%s: the unchanged checkpoint: refused %v, %s", name, refused, problem)
		}
	}
	refused, bad := 0, 0
	count := attackCount(100, 1_000)
	for i := range count {
		rng := rand.New(rand.NewPCG(uint64(i), 11))
		name := names[i%len(names)]
		data, what := craft(t, fits[name].checkpoint, rng)
		watch := time.AfterFunc(attackSeconds*time.Second, func() {
			panic(fmt.Sprintf("checkpoint %d (%s: %s) takes more than %d s", i, name, what, attackSeconds))
		})
		no, problem := attackCheckpoint(t, folder, fits[name], data)
		watch.Stop()
		if problem != "" {
			t.Errorf("checkpoint %d (%s: %s): %s", i, name, what, problem)
			if bad++; bad > 20 {
				t.FailNow()
			}
		}
		if no {
			refused++
		}
	}
	t.Logf("attack on %-11s %6d files: %6d resumed, %6d refused, %d bad", "checkpoints", count, count-refused-bad, refused, bad)
}

// TestForgottenResume checks that a fit does not overwrite the checkpoint of another.
func TestForgottenResume(t *testing.T) {
	t.Parallel()
	spec := newShop(t, 5, 6, nil).plainSpec()
	opt := kft.Options{Checkpoint: t.TempDir()}
	fit(t, spec, opt)
	_, _, err := kft.Fit(t.Context(), spec, kft.Source{}, opt)
	var exists *kft.CheckpointExistsError
	if !errors.As(err, &exists) {
		t.Errorf("got error %v, want a *kft.CheckpointExistsError", err)
	}
}
