package kft_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// TestSideVariantsAndSpaces fits every variant in every space. A loaded model predicts
// the same bits for known ids and for new ids with and without a side row.
func TestSideVariantsAndSpaces(t *testing.T) {
	t.Parallel()
	s := newShop(t, 16, 20, nil)
	newStores := "store=" + s.write(t, "new_stores.csv", "store,region,size\nn0,south,0.3\nn1,nowhere,\n")
	table := s.write(t, "new.csv", s.read(t, "sales.csv")+"n0,i3,2,1\nn1,i4,2,1\nn2,i4,2,1\nclosed,i4,2,1\n")
	for _, variant := range []string{"plain", "side", "wlr", "ls", "additive"} {
		for _, space := range []string{"primal", "primal-rff", "dual", "dual-rff", "dual-unwhitened"} {
			t.Run(variant+" "+space, func(t *testing.T) {
				t.Parallel()
				m, r := fit(t, s.spec(variant, space), kft.Options{})
				if got := r.Test.R2Scale; !(got > 0.3 && got <= 1) {
					t.Errorf("got R2 %g on the test set, want a value in (0.3, 1]", got)
				}
				file := modelBytes(t, m)
				loaded := loadBytes(t, file)
				if !bytes.Equal(modelBytes(t, loaded), file) {
					t.Error("a loaded model: got other bytes when saved again, want equal bytes")
				}
				before := predictFile(t, m, table, kft.TableOptions{})
				if predictFile(t, loaded, table, kft.TableOptions{}) != before {
					t.Error("a loaded model: got other predictions, want equal ones")
				}
				if variant == "plain" {
					return // WithSide rejects it
				}
				after := predictFile(t, withSide(t, m, newStores), table, kft.TableOptions{})
				if predictFile(t, withSide(t, loaded, newStores), table, kft.TableOptions{}) != after {
					t.Error("a loaded model with new side rows: got other predictions, want equal ones")
				}
				checkOnlyNewStoresChange(t, before, after)
			})
		}
	}
}

// checkOnlyNewStoresChange checks that the side rows of n0 and n1 change the predictions
// of these stores and of no other.
func checkOnlyNewStoresChange(t *testing.T, before, after string) {
	t.Helper()
	a, b := linesOf(before), linesOf(after)
	if len(a) != len(b) {
		t.Fatalf("got %d lines, want %d", len(b), len(a))
	}
	for i := range a {
		described := strings.HasPrefix(a[i], "n0,") || strings.HasPrefix(a[i], "n1,")
		switch {
		case strings.Contains(b[i], "NaN"):
			t.Errorf("got %q, want finite numbers", b[i])
		case described && (a[i] == b[i] || !strings.HasSuffix(b[i], ",store:side") || !strings.HasSuffix(a[i], ",store")):
			t.Errorf("new side row: got %q before and %q after, want another prediction, from the side row", a[i], b[i])
		case !described && a[i] != b[i]:
			t.Errorf("side rows of other stores: got %q, want no change of %q", b[i], a[i])
		}
	}
}

// TestSideVariantOfEachTerm gives each term its own variant, and latent scaling its own
// ranks.
func TestSideVariantOfEachTerm(t *testing.T) {
	t.Parallel()
	s := newShop(t, 16, 20, nil)
	spec := s.spec("additive", "dual")
	spec.Terms = []string{"store,item,month:4@ls:2:3", "store,item:2", "month@wlr", "store,month:2@plain", "item@side"}
	m, r := fit(t, spec, kft.Options{})
	var got []string
	for _, term := range m.Terms() {
		text := ""
		for _, c := range term.Cores {
			text += fmt.Sprintf("%s %s %d;", c.Name, c.Variant, c.Right)
		}
		got = append(got, text)
	}
	want := []string{
		"store plain 2;item plain 2;month plain 1;", "store side 4;item side 4;month plain 1;", "store plain 3;item plain 3;month plain 1;",
		"store additive 2;item additive 1;", "month plain 1;", "store plain 2;month plain 1;", "item side 1;",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got terms %q, want %q", got, want)
	}
	if !(r.Test.R2Scale > 0.8) {
		t.Errorf("got R2 %g on the test set, want more than 0.8", r.Test.R2Scale)
	}
	table := s.path("sales.csv")
	if predictFile(t, reload(t, m), table, kft.TableOptions{}) != predictFile(t, m, table, kft.TableOptions{}) {
		t.Error("a loaded model: got other predictions, want equal ones")
	}
}

// TestUnwhitenedDualSpaceStaysFinite fits the badly conditioned space dual-unwhitened
// with small and large learning rates. The result is a finite model or a readable error.
func TestUnwhitenedDualSpaceStaysFinite(t *testing.T) {
	t.Parallel()
	unreadable := regexp.MustCompile(`NaN|Inf|[0-9]{5}| 1 times`)
	s := newShop(t, 16, 20, nil)
	for _, rate := range []float64{0.03, 1, 50} {
		for _, variant := range []string{"side", "wlr"} {
			t.Run(fmt.Sprint(variant, " rate ", rate), func(t *testing.T) {
				t.Parallel()
				spec := s.spec(variant, "dual-unwhitened")
				spec.Fit = kft.FitSpec{Solver: "adam", LearningRate: rate, Epochs: 4, Ridge: "uniform", Lambda: kft.LambdaOf(1e-6)}
				m, r, err := kft.Fit(t.Context(), spec, kft.Source{}, kft.Options{})
				if err != nil {
					var diverged *kft.DivergedError
					if !errors.As(err, &diverged) || !errors.Is(err, kft.ErrDiverged) {
						t.Errorf("got error of type %T, want a *kft.DivergedError that is ErrDiverged", err)
					}
					checkErrorText(t, err, "fit.learning-rate")
					checkErrorText(t, err, "epoch")
					if unreadable.MatchString(err.Error()) {
						t.Errorf("got error %q, want no match of %v", err, unreadable)
					}
					return
				}
				if text := strings.Join(r.Warnings, "\n"); unreadable.MatchString(text) {
					t.Errorf("got warnings %q, want no match of %v", text, unreadable)
				}
				if math.IsNaN(r.Train.R2) || math.IsNaN(r.Test.MAE) {
					t.Errorf("got training score %+v and test score %+v, want finite ones", r.Train, r.Test)
				}
				if strings.Contains(predictFile(t, m, s.path("sales.csv"), kft.TableOptions{}), "NaN") {
					t.Error("got NaN in predictions, want finite numbers")
				}
			})
		}
	}
}
