package mpi

import "testing"

// Ranks that are bound to a CPU each are not crowded, and share the CPUs of their machine.
func TestPlacement(t *testing.T) {
	t.Parallel()
	hosts := []string{"a", "a", "b", "a"}
	for name, test := range map[string]struct {
		sets     [4]uint64
		own      int
		want     Placement
		crowded  bool
		ofEight  int
		position int
	}{
		"bound to a CPU each":  {sets: [4]uint64{1, 2, 1, 4}, own: 1, want: Placement{3, 3, 1}, ofEight: 8},
		"bound to two sockets": {sets: [4]uint64{0xff, 0xff, 0xff, 0xff00}, own: 8, want: Placement{3, 16, 8}, ofEight: 5},
		"not bound":            {sets: [4]uint64{0xff, 0xff, 0xff, 0xff}, own: 8, want: Placement{3, 8, 8}, ofEight: 2},
		"two CPUs":             {sets: [4]uint64{3, 3, 3, 3}, own: 2, want: Placement{3, 2, 2}, crowded: true, ofEight: 2},
		"alone on a machine":   {sets: [4]uint64{3, 3, 3, 3}, own: 2, want: Placement{1, 2, 2}, ofEight: 8, position: 2},
		"unknown":              {own: 2, want: Placement{3, 2, 2}, crowded: true, ofEight: 2},
	} {
		sets := make([]cpuSet, 4)
		for r, word := range test.sets {
			sets[r][0] = word
		}
		got := placement(test.position, hosts, sets, test.own)
		if got != test.want || got.Crowded() != test.crowded {
			t.Errorf("%s: got %+v, crowded %t, want %+v, %t", name, got, got.Crowded(), test.want, test.crowded)
		}
		if n := got.Threads(8); n != test.ofEight {
			t.Errorf("%s: got %d of 8 threads, want %d", name, n, test.ofEight)
		}
	}
}
