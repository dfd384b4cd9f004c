package train

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// sharedSides are the side tables and the curves of covariates of fits that are compared with each
// other. Reading a table, encoding it and computing the columns of a kernel may take as long as a
// short fit.
type sharedSides struct {
	mu    sync.Mutex
	known map[string]*sharedSide
}

// A sharedSide is what sideOf or curveOf found. Fits do not change it.
type sharedSide struct {
	once   sync.Once
	side   *model.Side
	report model.SideReport
	extra  *sideinfo.Joined
	groups *sideinfo.Groups
	err    error
}

// sideFor is sideOf, computed once for fits that are only compared and have the same training
// rows and side information.
func (r *run) sideFor(ctx context.Context, table sideinfo.Spec, at int, groups []string) (*model.Side, model.SideReport, error) {
	s := r.spec.Side
	s.Variant = "" // of the terms
	one := r.shared(fmt.Sprintf("%d %q %q %+v", at, table, groups, s), func(one *sharedSide) {
		one.side, one.report, one.err = r.sideOf(context.WithoutCancel(ctx), table, at, groups)
		one.extra, one.groups = r.extra[at], r.groups[at]
	})
	r.extra[at], r.groups[at] = one.extra, one.groups
	return one.side, one.report, one.err
}

// curveFor is curveOf, computed once for fits that are only compared and have the same training rows.
func (r *run) curveFor(at int) (*model.Side, model.SideReport, error) {
	one := r.shared("curve "+r.data.table.Modes[at].String(), func(one *sharedSide) { one.side, one.report, one.err = r.curveOf(at) })
	return one.side, one.report, one.err
}

// shared computes something, or returns what another fit computed that is only compared with this
// one and has the same training rows. The key names what else it depends on.
func (r *run) shared(key string, compute func(*sharedSide)) *sharedSide {
	shared := r.data.sides
	if !r.opt.Compare || shared == nil || r.pages != nil || r.opt.Ranks != nil || r.spec.Side.LengthScales != "fixed" {
		one := &sharedSide{}
		compute(one)
		return one
	}
	key = fmt.Sprint(key, r.spec.Seed, " ", hashParts(r.split.Parts))
	shared.mu.Lock()
	if shared.known == nil {
		shared.known = map[string]*sharedSide{}
	}
	one := shared.known[key]
	if one == nil {
		one = &sharedSide{}
		shared.known[key] = one
	}
	shared.mu.Unlock()
	one.once.Do(func() {
		compute(one)
		one.report.Notices = slices.Clip(one.report.Notices) // fits append to them
	})
	return one
}

// ForgetCompared drops what fits share that are compared, on this data and its folds.
func (d *Data) ForgetCompared() {
	if d.sides != nil {
		d.sides.mu.Lock()
		d.sides.known = nil
		d.sides.mu.Unlock()
	}
}
