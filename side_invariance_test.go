package kft_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// reversedRows returns a CSV table with its rows in reverse order.
func reversedRows(table string) string {
	lines := linesOf(table)
	slices.Reverse(lines[1:])
	return strings.Join(lines, "\n") + "\n"
}

// TestSideThreadsAndRowOrderDoNotChangeModelFile varies the number of threads and the
// order of the rows of the side tables.
func TestSideThreadsAndRowOrderDoNotChangeModelFile(t *testing.T) {
	t.Parallel()
	s := newShop(t, 30, 40, nil)
	s.write(t, "stores.csv", s.read(t, "stores.csv")+"shut,south,0.1\nnever,west,0.2\n")
	spec := s.spec("wlr", "dual")
	spec.Terms = append(spec.Terms, "store*item,month:1")
	var want []byte
	for _, threads := range []int{1, 2, 8} {
		m, _ := fit(t, spec, kft.Options{Threads: threads})
		got := modelBytes(t, m)
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d threads: got a file that differs from that of 1 thread, want equal bytes", threads)
		}
	}
	for _, name := range []string{"stores.csv", "items.csv"} {
		s.write(t, name, reversedRows(s.read(t, name)))
	}
	m, _ := fit(t, spec, kft.Options{})
	if !bytes.Equal(modelBytes(t, m), want) {
		t.Error("side tables in reverse order: got another file, want equal bytes")
	}
}

// TestIDOrderAndNamesDoNotMatter fits a table with reversed rows and renamed stores. The
// scores agree up to the effect of the random start.
func TestIDOrderAndNamesDoNotMatter(t *testing.T) {
	t.Parallel()
	original := newShop(t, 16, 20, nil)
	original.write(t, "sales.csv", addColumn(original.read(t, "sales.csv"), "part", func(row int, _ string) string {
		return [...]string{"test", "train", "train", "train", "valid"}[row%5]
	}))
	// The new names also have another alphabetical order.
	rename := func(line string) string {
		id, rest, _ := strings.Cut(line, ",")
		var n int
		if _, err := fmt.Sscanf(id, "s%d", &n); err != nil {
			return line
		}
		return fmt.Sprintf("z%d,%s", 99-n, rest)
	}
	permuted := &shop{dir: t.TempDir()}
	for _, name := range []string{"sales.csv", "stores.csv", "items.csv"} {
		lines := linesOf(reversedRows(original.read(t, name)))
		if name != "items.csv" {
			for i, row := range lines[1:] {
				lines[i+1] = rename(row)
			}
		}
		permuted.write(t, name, strings.Join(lines, "\n")+"\n")
	}
	for _, test := range []struct {
		variant, space string
		tolerance      float64 // free weights have a random start, in the order of the ids
	}{
		{"side", "primal", 1e-4},
		{"side", "dual", 2e-3},
		{"side", "dual-rff", 5e-3},
		{"wlr", "primal", 0.01},
		{"wlr", "dual", 0.01},
		{"additive", "dual", 0.02},
	} {
		t.Run(test.variant+" "+test.space, func(t *testing.T) {
			t.Parallel()
			report := func(s *shop) *kft.Report {
				spec := s.spec(test.variant, test.space)
				spec.Split = "column:part"
				spec.Side.Tables = append(spec.Side.Tables, "month=@month:num")
				_, r := fit(t, spec, kft.Options{})
				return r
			}
			want, got := report(original), report(permuted)
			if math.Abs(got.Test.R2Scale-want.Test.R2Scale) > test.tolerance || math.Abs(got.Train.R2Scale-want.Train.R2Scale) > test.tolerance {
				t.Errorf("permuted: got R2 %.5f (training) and %.5f (test), want %.5f and %.5f", got.Train.R2Scale, got.Test.R2Scale, want.Train.R2Scale, want.Test.R2Scale)
			}
			if want.Test.R2Scale < 0.5 {
				t.Errorf("got R2 %.3f on the test set, want at least 0.5 for a meaningful comparison", want.Test.R2Scale)
			}
		})
	}
}
