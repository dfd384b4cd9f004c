package kft_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
)

// checkForeignCheckpoint fits a specification whose checkpoint folder belongs to
// another fit, and expects an error that contains want.
func checkForeignCheckpoint(t *testing.T, spec kft.Spec, opt kft.Options, want string) {
	t.Helper()
	_, _, err := kft.Fit(t.Context(), spec, kft.Source{}, opt)
	checkErrorText(t, err, want)
	var foreign *kft.CheckpointError
	if !errors.As(err, &foreign) {
		t.Errorf("got error %v of type %T, want a *kft.CheckpointError", err, err)
	}
}

// TestResumedFitEqualsWholeFit stops a fit several times. The resumed fit ends in the
// same bytes, and a checkpoint of another specification is rejected.
func TestResumedFitEqualsWholeFit(t *testing.T) {
	t.Parallel()
	table := testtable.WriteSales(t, 3000)
	for _, solver := range []string{"als", "adam"} {
		t.Run(solver, func(t *testing.T) {
			t.Parallel()
			spec := salesSpec(table)
			spec.Fit.Solver, spec.Fit.Epochs = solver, 6
			whole, _ := fit(t, spec, kft.Options{})
			opt := kft.Options{Checkpoint: t.TempDir(), Resume: true}
			resumed, runs := fitWithInterruptions(t, spec, opt, 37)
			if !bytes.Equal(modelBytes(t, resumed), modelBytes(t, whole)) {
				t.Errorf("after %d runs: got a file that differs from that of one run, want equal bytes", runs)
			}
			spec.Seed = 2
			checkForeignCheckpoint(t, spec, opt, "another fit")
		})
	}
}

// TestResumedFitWithSideInformation is the same for several variants of side
// information. A checkpoint of another side table is rejected.
func TestResumedFitWithSideInformation(t *testing.T) {
	t.Parallel()
	for solver, pause := range map[string]int{"als": 61, "adam": 4} {
		t.Run(solver, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, 12, 14, nil)
			spec := s.spec("wlr", "dual")
			spec.Terms = []string{"store,item,month:3", "store*item,month:1@additive", "store,item:2@ls:1:2"}
			spec.Fit = kft.FitSpec{Solver: solver, Sweeps: 5, Epochs: 3}
			whole, _ := fit(t, spec, kft.Options{})
			opt := kft.Options{Checkpoint: t.TempDir(), Resume: true}
			resumed, runs := fitWithInterruptions(t, spec, opt, pause)
			if runs < 3 {
				t.Errorf("got %d runs, want 3 or more", runs)
			}
			if !bytes.Equal(modelBytes(t, resumed), modelBytes(t, whole)) {
				t.Errorf("after %d runs: got a file that differs from that of one run, want equal bytes", runs)
			}
			s.write(t, "stores.csv", strings.Replace(s.read(t, "stores.csv"), "s1,south", "s1,north", 1))
			checkForeignCheckpoint(t, spec, opt, "the side information differs")
		})
	}
}

func TestCheckpointOfAnotherSplitIsRejected(t *testing.T) {
	t.Parallel()
	const rows = 600
	split := writeFile(t, "split.csv", "")
	spec := salesSpec(testtable.WriteSales(t, rows))
	spec.Split = "file:" + split
	opt := kft.Options{Checkpoint: t.TempDir(), Resume: true}
	writeSplit := func(order ...string) {
		t.Helper()
		text := "part\n"
		for row := range rows {
			text += order[row%len(order)] + "\n"
		}
		if err := os.WriteFile(split, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	writeSplit("train", "train", "valid", "test")
	fit(t, spec, opt)
	writeSplit("test", "train", "train", "valid")
	checkForeignCheckpoint(t, spec, opt, "the split differs")
}
