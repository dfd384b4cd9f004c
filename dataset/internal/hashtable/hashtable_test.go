package hashtable

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTable(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 0))
	var table Table
	if _, ok := table.Get(7); ok {
		t.Error("the empty table contains 7")
	}
	want := map[uint64]int32{}
	for code := int32(0); len(want) < 5000; code++ {
		key := r.Uint64() >> r.UintN(60)
		if _, ok := want[key]; ok || key == 0 {
			continue
		}
		want[key] = code
		table.Put(key, code)
	}
	if table.Len() != len(want) {
		t.Errorf("got %d keys, want %d", table.Len(), len(want))
	}
	keys := slices.Collect(table.Keys())
	if len(keys) != len(want) {
		t.Fatalf("Keys yields %d keys, want %d", len(keys), len(want))
	}
	codes := make([]int32, len(keys)+2)
	if got := table.Codes(codes, append(keys, 0, keys[0]), 0); got != len(keys) {
		t.Errorf("Codes stopped at %d, want %d, the index of the key 0", got, len(keys))
	}
	for i, key := range keys {
		got, ok := table.Get(key)
		if !ok || got != want[key] || codes[i] != want[key] {
			t.Fatalf("key %d: Get returns %d, %t and Codes %d, want %d", key, got, ok, codes[i], want[key])
		}
	}
}
