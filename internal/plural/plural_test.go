package plural

import "testing"

func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 rows", 1: "1 row", 2: "2 rows"} {
		if got := Count(n, "row"); got != want {
			t.Errorf("Count(%d, row) = %q, want %q", n, got, want)
		}
	}
}
