package sideinfo

import (
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
)

func TestBadValues(t *testing.T) {
	for _, tc := range []struct{ column, value, want string }{
		{"num", "tall", `s.csv, line 3, column "x", value "tall": the value is not a number, as type num requires; correct the value, leave it empty, or give the column another type`},
		{"log", "-1", `s.csv, line 3, column "x", value "-1": a negative number has no logarithm; correct the value, leave it empty, or give the column another type`},
		{"log", "z", `s.csv, line 3, column "x", value "z": the value is not a number, as type log requires; correct the value, leave it empty, or give the column another type`},
		{"date", "13/13/2013", `s.csv, line 3, column "x", value "13/13/2013": the value is not a date or a time; correct the value, leave it empty, or give the column another type`},
		{"cycle12", "May", `s.csv, line 3, column "x", value "May": the value is not a number, as type cycle12 requires; correct the value, leave it empty, or give the column another type`},
		{"num", "Inf", `s.csv, line 3, column "x", value "Inf": the number is infinite or too large; correct the value, leave it empty, or give the column another type`},
		{"log", "1e400", `s.csv, line 3, column "x", value "1e400": the number is infinite or too large; correct the value, leave it empty, or give the column another type`},
	} {
		j := mustOpenSide(t, "store=s.csv:x:"+tc.column, "store,x\n1,20160101\n2,"+tc.value+"\n", storeMode, "2", "1")
		if _, _, err := Fit(j, EncodeOptions{}); err == nil || err.Error() != tc.want {
			t.Errorf("got error\n%v\nwant\n%s", err, tc.want)
		}
	}
	e, _, _ := fitColumns(t, EncodeOptions{}, map[string][]string{"x:log": {"1", "2"}}, "x:log")
	if _, err := e.Encode(dataset.NewFrame([]string{"x"}, []string{"0"})); err == nil || !strings.Contains(err.Error(), "zero has no logarithm, and the column had no 0 when the encoder was fitted") {
		t.Errorf("got error %v, want one about the logarithm of zero", err)
	}
	if _, err := e.Encode(dataset.NewFrame([]string{"y"}, []string{"0"})); err == nil || !strings.Contains(err.Error(), `column "x"`) {
		t.Errorf("got error %v, want one about column x", err)
	}
}

// An error in a column computed from ids names no file.
func TestBadIDValue(t *testing.T) {
	j := mustOpenSide(t, "store=@store:date", "", storeMode, "3", "4")
	const want = `column "store", value "3": the value is not a date or a time; correct the value, leave it empty, or give the column another type`
	if _, _, err := Fit(j, EncodeOptions{}); err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

// The reported invalid value is the first one in the file, independent of the order
// of the ids.
func TestFirstBadValue(t *testing.T) {
	j := mustOpenSide(t, "store=s.csv:x:num", "store,x\n1,1\n2,b\n3,c\n4,d\n", storeMode, "4", "1", "2", "3")
	if _, _, err := Fit(j, EncodeOptions{}); err == nil || !strings.Contains(err.Error(), `line 3, column "x", value "b"`) {
		t.Errorf("got error %v, want one about line 3", err)
	}
	e, _, _ := fitColumns(t, EncodeOptions{}, map[string][]string{"x:num": {"1", "2"}}, "x:num")
	if _, err := e.Encode(j.Rows); err == nil || !strings.Contains(err.Error(), `line 3, column "x", value "b"`) {
		t.Errorf("got error %v, want one about line 3", err)
	}
}
