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
	found := make([]int32, len(keys)+3)
	table.Find(found, append(slices.Clone(keys), 0, absentKey(want), keys[0]), -7)
	if end := found[len(keys):]; end[0] != -7 || end[1] != -7 || end[2] != want[keys[0]] || !slices.Equal(found[:len(keys)], codes[:len(keys)]) {
		t.Errorf("Find returns %v for 0, an unknown key and the first one, want -7, -7, %d; or another code than Codes", end, want[keys[0]])
	}
	new(Table).Find(found, make([]uint64, len(found)), -7)
	if slices.ContainsFunc(found, func(code int32) bool { return code != -7 }) {
		t.Error("the empty table has keys")
	}
	for i, key := range keys {
		got, ok := table.Get(key)
		if !ok || got != want[key] || codes[i] != want[key] {
			t.Fatalf("key %d: Get returns %d, %t and Codes %d, want %d", key, got, ok, codes[i], want[key])
		}
	}
}

// absentKey returns a nonzero key that is not in a map.
func absentKey(m map[uint64]int32) uint64 {
	for key := uint64(1); ; key++ {
		if _, ok := m[key]; !ok {
			return key
		}
	}
}

// TestFlooding puts keys that collide for a hash without a seed: the multiples of an
// inverse, whose products have the same high bits. They must not cost more than others.
func TestFlooding(t *testing.T) {
	const n = 60_000
	inverse := uint64(Golden) // Newton's iteration
	for range 6 {
		inverse *= 2 - Golden*inverse
	}
	r := rand.New(rand.NewPCG(3, 0))
	chosen, random := make([]uint64, n), make([]uint64, n)
	for i := range chosen {
		x := (12345<<40 | r.Uint64()>>24) * inverse
		chosen[i] = x ^ x>>29 ^ x>>58 // undoes x ^= x>>29
		random[i] = r.Uint64()
	}
	if chosen[0]^chosen[0]>>29 == 0 || inverse*Golden != 1 {
		t.Fatal("the keys are not chosen rightly")
	}
	// A search ends at the first free slot, so it takes at most the longest run of used ones.
	longest := func(keys []uint64) int {
		var table Table
		for code, key := range keys {
			if _, ok := table.Get(key); !ok {
				table.Put(key, int32(code))
			}
		}
		most, run := 0, 0
		for range 2 { // a run may go on at the beginning
			for _, s := range table.slots {
				if run++; s.key == 0 {
					run = 0
				}
				most = max(most, run)
			}
		}
		return most
	}
	usual := longest(random)
	if got := longest(chosen); got > 50*usual {
		t.Errorf("chosen keys fill %d slots in a row, others %d", got, usual)
	}
}

// TestSeeds checks that two tables have different seeds, and that none shows in the
// codes.
func TestSeeds(t *testing.T) {
	t.Parallel()
	var a, b Table
	for code := range int32(100) {
		a.Put(uint64(code)*7+1, code)
		b.Put(uint64(code)*7+1, code)
	}
	if a.seed == b.seed {
		t.Error("two tables have the same seed")
	}
	for code := range int32(100) {
		x, _ := a.Get(uint64(code)*7 + 1)
		y, _ := b.Get(uint64(code)*7 + 1)
		if x != code || y != code {
			t.Errorf("code %d: got %d and %d", code, x, y)
		}
	}
}

// TestNew checks that a table with room for n keys keeps its room, and grows beyond it.
func TestNew(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 31, 32, 33, 1000} {
		table := New(n)
		room := len(table.slots)
		for key := range uint64(n) {
			table.Put(key+1, int32(key))
		}
		if len(table.slots) != room {
			t.Errorf("room for %d keys: the table grew from %d to %d slots", n, room, len(table.slots))
		}
		for key := range uint64(3*n + 100) {
			if key >= uint64(n) {
				table.Put(key+1, int32(key))
			}
		}
		for key := range uint64(3*n + 100) {
			if code, ok := table.Get(key + 1); !ok || code != int32(key) {
				t.Fatalf("room for %d keys: key %d has code %d, %v", n, key+1, code, ok)
			}
		}
	}
}

// A table that threads fill has every key with its code, also where runs of places go on beyond the range of a thread and
// beyond the end.
func TestFill(t *testing.T) {
	t.Parallel()
	key := func(i int) uint64 { return uint64(i+1) * 0x9e3779b97f4a7c15 }
	for _, n := range []int{0, 1, 40, 5 * leastFill, 1<<17 - 1} {
		for _, threads := range []int{1, 3, 16} {
			table := New(n)
			if !table.Fill(threads, n, key) || table.Len() != n {
				t.Fatalf("%d keys, %d threads: got %d", n, threads, table.Len())
			}
			for i := range n {
				if code, ok := table.Get(key(i)); !ok || code != int32(i) {
					t.Fatalf("%d keys, %d threads: key %d has code %d, %v", n, threads, i, code, ok)
				}
			}
			if _, ok := table.Get(key(n)); ok {
				t.Errorf("%d keys, %d threads: found a key that was not put", n, threads)
			}
		}
	}
	twice := func(i int) uint64 { return key(i % (5*leastFill - 1)) }
	if New(5*leastFill).Fill(4, 5*leastFill, twice) {
		t.Error("a key that is there twice was not found")
	}
}

// Fill is a map of random keys, and reports a key that is there twice wherever its places are.
func TestFillIsAMap(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		n, threads := 1+rng.IntN(1<<rng.IntN(17)), 1+rng.IntN(16)
		keys, codes := make([]uint64, n), make(map[uint64]int32, n)
		for i := range keys {
			for keys[i] == 0 || codes[keys[i]] != 0 {
				keys[i] = rng.Uint64() >> rng.IntN(40)
			}
			codes[keys[i]] = int32(i) + 1
		}
		table := New(n)
		if !table.Fill(threads, n, func(i int) uint64 { return keys[i] }) || table.Len() != n {
			t.Fatalf("%d keys, %d threads: got %d", n, threads, table.Len())
		}
		found, absent := make([]int32, n), int32(-1)
		table.Find(found, keys, absent)
		for i, key := range keys {
			if code, ok := table.Get(key); !ok || code != int32(i) || found[i] != code {
				t.Fatalf("%d keys, %d threads: key %d has codes %d and %d, %v", n, threads, i, code, found[i], ok)
			}
		}
		for range 100 {
			if key := rng.Uint64() | 1; codes[key] == 0 {
				if _, ok := table.Get(key); ok {
					t.Fatalf("%d keys, %d threads: found a key that was not put", n, threads)
				}
			}
		}
		if n > 1 {
			from := rng.IntN(n - 1)
			keys[from+1+rng.IntN(n-1-from)] = keys[from]
			if New(n).Fill(threads, n, func(i int) uint64 { return keys[i] }) {
				t.Errorf("%d keys, %d threads: a key that is there twice was not found", n, threads)
			}
		}
	}
}
