package panel

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// Processes that list some series each get the list of one process.
func TestPanelOfPeers(t *testing.T) {
	t.Parallel()
	modes := []dataset.Mode{{Name: "store", Columns: []string{"store"}}, {Name: "item", Columns: []string{"item"}}, {Name: "time", Columns: []string{"month"}}}
	const stores, items, months = 31, 70, 24
	ids := func(mode int) (list []string) {
		for i := range []int{stores, items, months}[mode] {
			list = append(list, []string{fmt.Sprint("s", i), fmt.Sprint("i", i), fmt.Sprintf("2020-%02d", i%12+1)}[mode])
			if mode == 2 && i >= 12 {
				list[i] = fmt.Sprintf("2021-%02d", i%12+1)
			}
		}
		return list
	}
	codes := make([][]int32, 3)
	for i := range int32(stores * items * months) {
		if i*i%7 < 3 {
			continue
		}
		codes[0], codes[1], codes[2] = append(codes[0], i*i%stores), append(codes[1], i%items), append(codes[2], i/items%months)
	}
	target := func(row int) float64 { return float64(row%13) / 3 }
	want := New(nil, 2, modes, ids, 2, Rows{Codes: codes, Target: target})
	if want == nil || len(want.Rows) < 100 {
		t.Fatalf("got the panel %v", want)
	}
	for _, size := range []int{2, 5, 40} {
		backendtest.OnRanks(size, func(r backend.Ranks) {
			bounds := peers.Rows(len(codes[0]), size)
			from, to := bounds[r.Rank()], bounds[r.Rank()+1]
			own := make([][]int32, len(codes)) // other rows are not known
			for m := range own {
				own[m] = make([]int32, len(codes[m]))
				copy(own[m][from:], codes[m][from:to])
			}
			ownTarget := func(row int) float64 {
				if row < from || row >= to {
					t.Errorf("process %d of %d asks for row %d of another one", r.Rank(), size, row)
				}
				return target(row)
			}
			if got := New(r, 1, modes, ids, 2, Rows{Codes: own, Target: ownTarget}); !reflect.DeepEqual(got, want) {
				t.Errorf("process %d of %d: another panel than that of one process", r.Rank(), size)
			}
		})
	}
}
