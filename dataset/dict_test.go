package dataset

import (
	"fmt"
	"testing"
)

func TestDict(t *testing.T) {
	var ids []string
	for i := range 5000 {
		ids = append(ids, fmt.Sprint(i), fmt.Sprintf("x%d", i), fmt.Sprintf("identifier number %d", i))
	}
	ids = append(ids, "a", "a\x00", "\x00", "12345678", "123456789", "ø", "007", "07")
	ids[0] = "zero"
	d := NewDict(ids)
	if d.Len() != len(ids) {
		t.Fatalf("got %d ids, want %d", d.Len(), len(ids))
	}
	for code, id := range ids {
		if d.ID(int32(code)) != id {
			t.Fatalf("code %d is %q, want %q", code, d.ID(int32(code)), id)
		}
		if got, ok := d.Code([]byte(id)); !ok || got != int32(code) {
			t.Fatalf("id %q has code %d, %v, want %d", id, got, ok, code)
		}
	}
	for _, id := range []string{"", "0", "a\x00\x00", "x5000", "identifier number 5000"} {
		if code, ok := d.Code([]byte(id)); ok {
			t.Errorf("the unknown id %q has code %d", id, code)
		}
	}
	short, long := []byte("x4999"), []byte("identifier number 4999")
	if n := testing.AllocsPerRun(100, func() { d.Code(short); d.Code(long) }); n != 0 {
		t.Errorf("a lookup allocates %g times, want 0", n)
	}
	if _, ok := NewDict(nil).Code(short); ok {
		t.Error("an empty dictionary contains an id")
	}
	defer func() {
		if got := recover(); got != `dataset: id "a" is repeated` {
			t.Errorf("got panic %v, want one about the repeated id", got)
		}
	}()
	NewDict([]string{"a", "b", "a"})
}
