package panel

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/paged"
)

// A panel in a store is that in memory, also after the store is closed.
func TestKeep(t *testing.T) {
	t.Parallel()
	modes, err := dataset.ParseModes("item,time=year+month")
	if err != nil {
		t.Fatal(err)
	}
	const items = 1 << 19 // arrays of a store have at least 1 MiB
	all := [][]string{make([]string, items), {"2016-1", "2016-2"}}
	for i := range all[0] {
		all[0][i] = fmt.Sprint(i)
	}
	codes := [][]int32{make([]int32, 2*items), make([]int32, 2*items)}
	for i := range codes[0] {
		codes[0][i], codes[1][i] = int32(i/2), int32(i%2)
	}
	store, err := paged.Open(t.TempDir(), 1<<20, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	made := func(pages *paged.Store) *Panel {
		return New(nil, 2, modes, func(m int) []string { return all[m] }, -1, Rows{Codes: codes, Target: func(i int) float64 { return float64(i) }, Pages: pages})
	}
	want, got := made(nil), made(store)
	if store.Size() < 4*items {
		t.Fatalf("the store has %d bytes", store.Size())
	}
	got.Keep(store)
	if left := store.Size(); left != 0 {
		t.Errorf("%d bytes are left in the store", left)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if want.Len() != items || !reflect.DeepEqual(got.Codes, want.Codes) || !reflect.DeepEqual([]any{got.First, got.Last, got.Rows, got.Mean}, []any{want.First, want.Last, want.Rows, want.Mean}) {
		t.Errorf("got %d series other than the %d in memory", got.Len(), want.Len())
	}
}
