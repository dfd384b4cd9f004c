package fitdata

import (
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
)

// Marks of ranks are united, and those in both lists are found.
func TestUnite(t *testing.T) {
	t.Parallel()
	backendtest.OnRanks(2, func(r backend.Ranks) {
		s := &Share{ranks: r}
		a, b := make([]bool, 3), make([]bool, 3)
		a[r.Rank()], b[2] = true, true
		if s.unite(a, b) || !a[0] || !a[1] || a[2] || b[0] || b[1] || !b[2] {
			t.Errorf("rank %d: got %v and %v", r.Rank(), a, b)
		}
		b[0] = r.Rank() == 1
		if !s.unite(a, b) {
			t.Errorf("rank %d: no common mark of %v and %v", r.Rank(), a, b)
		}
	})
}
