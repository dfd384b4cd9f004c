package randstream

import "testing"

func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for name, v := range map[string]uint64{
		"a":       New(1, "a").Uint64(),
		"b":       New(1, "b").Uint64(),
		"a, 0":    New(1, "a", 0).Uint64(),
		"a, 1":    New(1, "a", 1).Uint64(),
		"a, 0, 1": New(1, "a", 0, 1).Uint64(),
		"seed 2":  New(2, "a").Uint64(),
	} {
		if other, ok := seen[v]; ok {
			t.Errorf("%s and %s give the same number", name, other)
		}
		seen[v] = name
	}
	if New(1, "a", 3).Uint64() != New(1, "a", 3).Uint64() {
		t.Error("the same purpose gives different numbers")
	}
}
