package specfile

import (
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

func TestFieldPath(t *testing.T) {
	t.Parallel()
	one := Problems{{Path: "fit.solver", Message: "unknown"}}
	for _, test := range []struct {
		err  error
		want string
	}{
		{one[0], "fit.solver"},
		{one, "fit.solver"},
		{append(one, Problem{Path: "terms"}), ""},
	} {
		if got := fielderr.Path(test.err); got != test.want {
			t.Errorf("Path(%v) = %q, want %q", test.err, got, test.want)
		}
	}
}
