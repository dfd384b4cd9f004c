package train

import (
	"context"
	"crypto/sha256"
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
	bases map[string]*sharedSide // of curves, for all fits of the table
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

// baseFor is baseOf, computed once for all fits of a table.
func (r *run) baseFor(at int) *sharedSide {
	compute := func(one *sharedSide) { one.side, one.report, one.err = r.baseOf(at) }
	if !r.shares() {
		one := &sharedSide{}
		compute(one)
		return one
	}
	ids := sha256.New()
	for _, id := range r.data.table.Dicts[at].IDs() {
		fmt.Fprintf(ids, "%q", id)
	}
	key := fmt.Sprintf("%s %d %x", r.data.table.Modes[at], r.spec.Seed, ids.Sum(nil))
	return r.data.sides.once(&r.data.sides.bases, key, compute)
}

// shared computes something, or returns what another fit computed that is only compared with this
// one and has the same training rows. The key names what else it depends on.
func (r *run) shared(key string, compute func(*sharedSide)) *sharedSide {
	if !r.opt.Compare || !r.shares() {
		one := &sharedSide{}
		compute(one)
		return one
	}
	return r.data.sides.once(&r.data.sides.known, fmt.Sprint(key, r.spec.Seed, " ", hashParts(r.split.Parts)), compute)
}

// shares reports whether the fit may use what others computed.
func (r *run) shares() bool {
	return r.data.sides != nil && r.pages == nil && r.opt.Ranks == nil && r.spec.Side.LengthScales == "fixed"
}

// once computes what a map has under a key, unless it is known.
func (s *sharedSides) once(known *map[string]*sharedSide, key string, compute func(*sharedSide)) *sharedSide {
	s.mu.Lock()
	if *known == nil {
		*known = map[string]*sharedSide{}
	}
	one := (*known)[key]
	if one == nil {
		one = &sharedSide{}
		(*known)[key] = one
	}
	s.mu.Unlock()
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
