package automatic

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// A large mode with few rows per id stands outside, because inside it supports a low rank only.
func TestRoomiest(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rows  int
		sizes []int
		want  string
	}{
		{1_800_000, []int{1500, 4500, 24}, "a,b,c:20"},
		{1_270_000, []int{80, 23_000, 36}, "a,c,b:20"},
		{1_950_000, []int{80, 450_000, 9}, "a,c,b:4"},
		{200_000, []int{5000, 3000}, "a,b:20"},
	}
	for _, test := range tests {
		c := &chooser{sizes: test.sizes, rows: test.rows, modes: []string{"a", "b", "c"}[:len(test.sizes)], effort: efforts["normal"]}
		given := []int{0, 1, 2}[:len(test.sizes)]
		if got := c.train(c.roomiest(given)).String(); got != test.want {
			t.Errorf("%d rows of %v ids: got %s, want %s", test.rows, test.sizes, got, test.want)
		}
	}
}

func TestOrders(t *testing.T) {
	t.Parallel()
	tests := []struct {
		sizes, modes []int
		want         [][]int
	}{
		{[]int{9, 8}, []int{0, 1}, nil},
		{[]int{300, 200, 10}, []int{0, 1, 2}, [][]int{{0, 2, 1}, {1, 0, 2}}},
		{[]int{300, 10, 200}, []int{0, 1, 2}, [][]int{{0, 2, 1}, {1, 0, 2}}},
		{[]int{10, 300, 5, 200}, []int{0, 1, 2, 3}, [][]int{{1, 0, 2, 3}}},
		{[]int{300, 5, 10, 200}, []int{0, 1, 2, 3}, nil},
	}
	for _, c := range tests {
		got := (&chooser{sizes: c.sizes}).orders(c.modes)
		if !slices.EqualFunc(got, c.want, slices.Equal[[]int]) {
			t.Errorf("sizes %v, modes %v: got the orders %v, want %v", c.sizes, c.modes, got, c.want)
		}
	}
}

// A comparison leaves out the validation rows that the final fit leaves to its conformal correction, so that both
// find the same optimum.
func TestComparisonsLeaveOutTheSameRows(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("a,b,y\n")
	for i := range 2500 {
		fmt.Fprintf(&text, "a%d,b%d,%d\n", i%50, i/50, i*i%97)
	}
	file := filepath.Join(t.TempDir(), "table.csv")
	writeFile(t, file, text.String())
	s := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "y", Modes: []string{"a", "b"}}, Terms: []string{"a", "b"}, Uncertainty: spec.Uncertainty{Inference: "mean-field"}}
	s.Fill()
	data, err := train.Read(t.Context(), s, tableio.Source{}, train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := &chooser{spec: s, data: data, folds: []*fitdata.Data{data}, effort: efforts["normal"], rows: data.Count(dataset.Train)}
	n := data.Count(dataset.Valid)
	if n < splitRows || !c.splits() {
		t.Fatalf("%d validation rows: the final fit has no correction", n)
	}
	_, r, err := c.fit(t.Context(), s, data)
	if err != nil {
		t.Fatal(err)
	}
	if r.Valid.N > n/2+1 {
		t.Errorf("a comparison has %d of %d validation rows, want half of them", r.Valid.N, n)
	}
}
