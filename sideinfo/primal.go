package sideinfo

import (
	"fmt"
	"math"
	"strings"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// Primal returns the operator D: a column of ones and the features that are not
// constant, divided by the root of their mean squared norm. Apart from the
// intercept, a row then has norm 1 on average, as in the factor of a kernel, and the
// effect of a penalty does not depend on the number of columns. Notices name the
// columns left out.
func Primal(f Features, opt Options) (Operator, []string, error) {
	if err := f.usable("primal", opt); err != nil {
		return nil, nil, err
	}
	var notices, dropped []string
	bs := &linear{}
	for c, varies := range f.varying() {
		if varies || opt.NoIntercept {
			bs.Kept = append(bs.Kept, c)
		} else {
			dropped = append(dropped, f.name(c))
		}
	}
	if dropped != nil {
		notices = append(notices, fmt.Sprintf("%d of %d columns of side information are constant and left out: %s", len(dropped), f.C, shortList(dropped)))
	}
	if len(bs.Kept) == 0 {
		notices = append(notices, onlyIntercept)
	}
	square := 0.0
	for i := range f.N {
		for _, c := range bs.Kept {
			v := float64(f.X[i*f.C+c])
			square += v * v / float64(f.N)
		}
	}
	if square > 0 {
		bs.Scale = 1 / math.Sqrt(square)
	}
	return newOperator("primal", f, opt, bs, nil), notices, nil
}

const onlyIntercept = "side information is the same for every entity: only the intercept is used"

// shortList joins up to five names and counts the rest.
func shortList(names []string) string {
	if len(names) <= 5 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:5], ", "), len(names)-5)
}

// linear is the basis of the features themselves, times a scale.
type linear struct {
	fixed
	Kept  []int
	Scale float64 // 0 means 1
}

func (l *linear) form() string { return "linear" }
func (l *linear) columns() int { return len(l.Kept) }

func (l *linear) fill(_ backend.Backend, dst []float32, stride int, x kernel.Rows, _ *scratch) {
	scale := float32(1)
	if l.Scale != 0 {
		scale = float32(l.Scale)
	}
	for i := range x.N {
		row := x.X[i*x.C : (i+1)*x.C]
		for j, c := range l.Kept {
			dst[i*stride+j] = scale * row[c]
		}
	}
}
