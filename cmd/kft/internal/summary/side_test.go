package summary

import (
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// Of a side table with many columns the first ones are listed.
func TestWriteSideOfManyColumns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		columns int
		want    string
	}{{maxSideColumns + 1, "tag num, tag num\n"}, {maxSideColumns + 1001, "tag num, and 1,001 more; --json lists all\n"}} {
		r := kft.SideReport{Mode: "movie", Space: "dual", Columns: 257}
		for range c.columns {
			r.Table.Columns = append(r.Table.Columns, sideinfo.ColumnReport{Name: "tag", Type: "num"})
		}
		var b strings.Builder
		WriteSide(&b, []kft.SideReport{r}, kft.Spec{})
		if got := b.String(); !strings.HasSuffix(got, c.want) || strings.Count(got, "tag") > maxSideColumns+1 {
			t.Errorf("%d columns: got %q, want %q at the end", c.columns, got, c.want)
		}
	}
}
