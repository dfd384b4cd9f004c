package operators

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// A Cache has the side tables and the curves of covariates of fits that are compared with each
// other. Reading a table, encoding it and computing the columns of a kernel may take as long as a
// short fit.
type Cache struct {
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
func (s *Set) sideFor(ctx context.Context, table sideinfo.Spec, at int, groups []string) (*model.Side, model.SideReport, error) {
	how := s.in.Spec.Side
	how.Variant = "" // of the terms
	one := s.shared(fmt.Sprintf("%d %q %q %+v", at, table, groups, how), func(one *sharedSide) {
		one.side, one.report, one.err = s.sideOf(context.WithoutCancel(ctx), table, at, groups)
		one.extra, one.groups = s.Extra[at], s.Groups[at]
	})
	s.Extra[at], s.Groups[at] = one.extra, one.groups
	return one.side, one.report, one.err
}

// curveFor is curveOf, computed once for fits that are only compared and have the same training rows.
func (s *Set) curveFor(at int) (*model.Side, model.SideReport, error) {
	one := s.shared("curve "+s.in.Table.Modes[at].String(), func(one *sharedSide) { one.side, one.report, one.err = s.curveOf(at) })
	return one.side, one.report, one.err
}

// baseFor is baseOf, computed once for all fits of a table.
func (s *Set) baseFor(at int) *sharedSide {
	compute := func(one *sharedSide) { one.side, one.report, one.err = s.baseOf(at) }
	if !s.shares() {
		one := &sharedSide{}
		compute(one)
		return one
	}
	ids := sha256.New()
	for _, id := range s.in.Table.Dicts[at].IDs() {
		fmt.Fprintf(ids, "%q", id)
	}
	key := fmt.Sprintf("%s %d %x", s.in.Table.Modes[at], s.in.Spec.Seed, ids.Sum(nil))
	return s.in.Cache.once(&s.in.Cache.bases, key, compute)
}

// shared computes something, or returns what another fit computed that is only compared with this
// one and has the same training rows. The key names what else it depends on.
func (s *Set) shared(key string, compute func(*sharedSide)) *sharedSide {
	if s.in.Rows == nil || !s.shares() {
		one := &sharedSide{}
		compute(one)
		return one
	}
	return s.in.Cache.once(&s.in.Cache.known, fmt.Sprint(key, s.in.Spec.Seed, " ", s.in.Rows()), compute)
}

// shares reports whether the fit may use what others computed.
func (s *Set) shares() bool {
	return s.in.Cache != nil && s.in.Spec.Side.LengthScales == "fixed"
}

// once computes what a map has under a key, unless it is known.
func (c *Cache) once(known *map[string]*sharedSide, key string, compute func(*sharedSide)) *sharedSide {
	c.mu.Lock()
	if *known == nil {
		*known = map[string]*sharedSide{}
	}
	one := (*known)[key]
	if one == nil {
		one = &sharedSide{}
		(*known)[key] = one
	}
	c.mu.Unlock()
	one.once.Do(func() {
		compute(one)
		one.report.Notices = slices.Clip(one.report.Notices) // fits append to them
	})
	return one
}

// Forget drops what compared fits share, except for curves before their rotation.
func (c *Cache) Forget() {
	if c != nil {
		c.mu.Lock()
		c.known = nil
		c.mu.Unlock()
	}
}
