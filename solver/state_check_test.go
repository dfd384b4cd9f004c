package solver

import (
	"strings"
	"testing"
)

// A state with a shape that pruning cannot give is refused.
func TestResumeShape(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		shape [][]int
		keep  bool // without pruning
	}{
		"too few terms":  {[][]int{{8, 8}}, false},
		"no term":        {make([][]int, 4), false},
		"larger ranks":   {[][]int{{8, 9}, {}, {}, {}}, false},
		"rank 0":         {[][]int{{8, 0}, {}, {}, {}}, false},
		"too many ranks": {[][]int{{8, 8}, {2}, {}, {}}, false},
		"not pruned":     {[][]int{{2, 2}, {}, nil, nil}, true},
	} {
		for _, leader := range []bool{false, true} {
			opt := pruning()
			opt.Prune = !tc.keep
			opt.Resume = &State{Run: Run{BestSweep: -1}, Leader: Run{BestSweep: -1}}
			opt.Resume.Run.Shape = tc.shape
			if leader {
				opt.Resume.Run.Shape, opt.Resume.Leader.Shape = nil, tc.shape
			}
			if _, err := Solve(t.Context(), offeredTooMuch(t, 1), opt); err == nil || !strings.Contains(err.Error(), "ranks") {
				t.Errorf("%s, leader %v: got error %v, want one about ranks", name, leader, err)
			}
		}
	}
}
