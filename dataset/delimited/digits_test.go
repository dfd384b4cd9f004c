package delimited

import (
	"encoding/binary"
	"fmt"
	"testing"
)

func TestParseDigits(t *testing.T) {
	t.Parallel()
	for _, v := range []uint32{0, 5, 72, 123, 9999, 12345, 654321, 7654321, 99999999} {
		text := fmt.Sprint(v)
		if got, ok := parseDigits(wordOf(text)); !ok || got != v {
			t.Errorf("parseDigits(%q) = %d, %t, want %d", text, got, ok, v)
		}
	}
	for _, text := range []string{"", "-1", "1.5", "12a", "a12", "1 2", "1:", "/1", "1\xff", "\xb12"} {
		if got, ok := parseDigits(wordOf(text)); ok {
			t.Errorf("parseDigits(%q) = %d, want no number", text, got)
		}
	}
}

// wordOf returns a text of at most 8 bytes as a little-endian word.
func wordOf(text string) uint64 {
	var word [8]byte
	copy(word[:], text)
	return binary.LittleEndian.Uint64(word[:])
}
