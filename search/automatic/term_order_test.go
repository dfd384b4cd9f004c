package automatic_test

import (
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

// Orders of terms are compared where the comparison sees all rows; the one with the least CRPS is taken.
func TestTermOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 1))
	var b strings.Builder
	b.WriteString("site,day,temp,wind,load\n")
	shape := make([]float64, 30) // a train of rank 1
	for day := range shape {
		shape[day] = rng.NormFloat64()
	}
	for site := range 6 {
		for day := range 30 {
			temp, wind := 10*rng.Float64(), 10*rng.Float64()
			fmt.Fprintf(&b, "S%d,%d,%.3f,%.3f,%.3f\n", site, day+1, temp, wind, 3*temp-2*wind+0.3*float64(site)+2*float64(site-3)*shape[day]+rng.NormFloat64())
		}
	}
	file := filepath.Join(t.TempDir(), "t.csv")
	writeFile(t, file, b.String())
	fit := func(effort string) (*train.Report, []model.Candidate) {
		s := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "load", Modes: []string{"site", "day"}, Covariates: []string{"temp", "wind"}}}
		s.Fit.Effort = effort
		_, r := mustFit(t, s, train.Options{Threads: 1})
		for _, d := range r.Decisions {
			if d.Subject == "order of terms" {
				return r, d.Options
			}
		}
		return r, nil
	}
	report, options := fit("normal")
	if len(options) < 2 || options[0].Value != "as chosen" || options[1].Value != "reversed" {
		t.Fatalf("got the orders %+v", options)
	}
	taken := slices.IndexFunc(options, func(o model.Candidate) bool { return o.Taken })
	for _, o := range options {
		if o.CRPS == nil || *o.CRPS < 0.99**options[taken].CRPS {
			t.Errorf("got %+v, of which the one taken is not the best", options)
		}
	}
	if report.Test.R2 < 0.95 {
		t.Errorf("got R2 %g, want .95 or more", report.Test.R2)
	}
	if _, options := fit("quick"); options != nil {
		t.Errorf("a quick fit compares %+v", options)
	}
}
