package tableio

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/delimited"
)

// Bad records are skipped and reported; the others are read. The size of the blocks
// does not matter.
func TestScanSkipsBadRecords(t *testing.T) {
	t.Parallel()
	text := "a,b\n1,2\n3\n\"x\ny\",4\n\"q\"z,5\n\n6,7,8\n9,\"1\"\"0\"\n11,12"
	wantRows := []string{"2: 1 2", "4: x\ny 4", "9: 9 1\"0", "10: 11 12"}
	wantBad := []string{
		"3: the line has 1 field, the table has 2 columns",
		"6: text follows a closing quote",
		"8: the line has 3 fields, the table has 2 columns",
	}
	for _, block := range []int{5, 16, delimited.BlockSize} {
		p := pipeline{source: Reader("t", strings.NewReader(text)), threads: 2, block: block}
		var names, rows, bad []string
		err := p.scan(t.Context(), func(n []string) error { names = n; return nil }, func(_ int, r *Records) (any, error) {
			var out [2][]string
			for i := range r.Len() {
				out[0] = append(out[0], fmt.Sprintf("%d: %s %s", r.Line(i), string(r.Field(i, 0)), string(r.Field(i, 1))))
			}
			for _, b := range r.Bad {
				out[1] = append(out[1], fmt.Sprintf("%d: %s", b.Line, b.Problem))
			}
			return out, nil
		}, func(result any) error {
			out := result.([2][]string)
			rows, bad = append(rows, out[0]...), append(bad, out[1]...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(names, []string{"a", "b"}) || !reflect.DeepEqual(rows, wantRows) || !reflect.DeepEqual(bad, wantBad) {
			t.Errorf("block %d: got columns %q, rows %q, bad records %q; want a and b, %q, %q", block, names, rows, bad, wantRows, wantBad)
		}
	}
}
