package celltext

import (
	"errors"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	cell, err := Parse("--cell", "store=2106,item=a,b,time=2016-12")
	if err != nil || cell["store"] != "2106" || cell["item"] != "a,b" || cell["time"] != "2016-12" || len(cell) != 3 {
		t.Errorf("%v, %v", cell, err)
	}
	for _, bad := range []string{"", "2106", "store=1,store=2"} {
		var wrong *Error
		if _, err := Parse("--cell", bad); !errors.As(err, &wrong) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
