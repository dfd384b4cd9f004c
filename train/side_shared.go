package train

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// sharedSides are the side tables of fits that are compared with each other. Reading a table,
// encoding it and computing the columns of a kernel may take as long as a short fit.
type sharedSides struct {
	mu    sync.Mutex
	known map[string]*sharedSide
}

// A sharedSide is what sideOf found. Fits do not change it.
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
	shared := r.data.sides
	if !r.opt.Compare || shared == nil || r.pages != nil || r.opt.Ranks != nil || r.spec.Side.LengthScales != "fixed" {
		return r.sideOf(ctx, table, at, groups)
	}
	s := r.spec.Side
	s.Variant = "" // of the terms
	key := fmt.Sprintf("%d %q %q %+v %d %s", at, table, groups, s, r.spec.Seed, hashParts(r.split.Parts))
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
		one.side, one.report, one.err = r.sideOf(context.WithoutCancel(ctx), table, at, groups)
		one.extra, one.groups = r.extra[at], r.groups[at]
		one.report.Notices = slices.Clip(one.report.Notices) // fits append to them
	})
	r.extra[at], r.groups[at] = one.extra, one.groups
	return one.side, one.report, one.err
}

// ForgetCompared drops what fits share that are compared, on this data and its folds.
func (d *Data) ForgetCompared() {
	if d.sides != nil {
		d.sides.mu.Lock()
		d.sides.known = nil
		d.sides.mu.Unlock()
	}
}
