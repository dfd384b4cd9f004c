package dataset

import (
	"fmt"
	"testing"
)

func TestParseDigits(t *testing.T) {
	for _, v := range []uint32{0, 5, 72, 123, 9999, 12345, 654321, 7654321, 99999999} {
		text := fmt.Sprint(v)
		if got, ok := parseDigits(shortKey([]byte(text))); !ok || got != v {
			t.Errorf("parseDigits(%q) = %d, %v", text, got, ok)
		}
	}
}
