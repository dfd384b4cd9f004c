package fit

import (
	"fmt"
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/tt"
)

func caviCases() []variantCase {
	return append([]variantCase{
		{"plain", three, tt.Plain, false, nil, nil, false},
		{"plain sum", sum, tt.Plain, false, nil, nil, false},
		{"plain four", four, tt.Plain, false, nil, nil, false},
	}, variantCases()...)
}

// No block lowers the evidence bound, in any variant and family.
func TestBoundNeverFalls(t *testing.T) {
	for _, tc := range caviCases() {
		for _, family := range []tt.Family{tt.MeanField, tt.Multivariate, tt.Rows} {
			t.Run(fmt.Sprintf("%s %s", tc.name, family), func(t *testing.T) {
				p := tc.problem(t, family == tt.Rows)
				if err := p.Field.SetFamily(family); err != nil {
					t.Fatal(err)
				}
				d, err := newData(p)
				if err != nil {
					t.Fatal(err)
				}
				s := &session{d: d, opt: defaults(), state: &State{}}
				if err := s.fresh(); err != nil {
					t.Fatal(err)
				}
				a := newCAVI(d, p.Train, 6)
				a.begin(&s.state.Run, Ridge{})
				before := math.Inf(-1)
				for sweep := range 4 {
					for i := range a.blocks() {
						a.update(i)
						a.evaluateAll()
						if err := a.failure(); err != nil {
							t.Fatal(err)
						}
						now := a.elbo()
						if !(now >= before-1e-4*math.Abs(before)) {
							t.Fatalf("sweep %d, %s: the bound fell from %.6f to %.6f", sweep, a.blockName(i), before, now)
						}
						before = now
					}
					a.endSweep(true)
					if now := a.elbo(); math.Abs(now-before) > 1e-4*math.Abs(before) {
						t.Fatalf("sweep %d: evening out took the bound from %.6f to %.6f", sweep, before, now)
					}
				}
			})
		}
	}
}
