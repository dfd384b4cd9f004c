package automatic_test

import (
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/search/automatic"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// The automatic choice offers days, here to one series and to shops with a forecast.
func TestDaysAreOffered(t *testing.T) {
	t.Parallel()
	for shops, split := range map[int]string{1: "random:70/15/15", 2: "time:last=5"} {
		file := automatic.WriteDays(t, 3, shops, automatic.EffectOf, split, "day.weekday")
		s := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "sales", Modes: []string{"shop", "day"}[2-shops:]}, Split: split}
		_, r := mustFit(t, s, train.Options{Threads: 2})
		if terms := strings.Join(r.Spec.Terms, " + "); !strings.Contains(terms, "days_") {
			t.Errorf("%d shops: got the terms %s without days", shops, terms)
		}
	}
}
