package delimited

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// The decoded text does not depend on the size of the blocks.
func TestDecodeBlocks(t *testing.T) {
	t.Parallel()
	row := "Z\xfcrich;caf\xe9;\"a\nb\xe4\";1\nZürich;plain;2;3\n"
	text := "gr\xf6\xdfe;b;c;d\n" + strings.Repeat(row, 5000)
	want := "größe;b;c;d\n" + strings.Repeat("Zürich;café;\"a\nbä\";1\nZürich;plain;2;3\n", 5000)
	for _, size := range []int{1000, 4097, BlockSize} {
		b, err := Open("t.csv", strings.NewReader(text), size)
		if err != nil {
			t.Fatal(err)
		}
		layout, err := b.ReadLayout(Format{}, nil)
		if err != nil || layout.Names[0] != "größe" {
			t.Fatalf("%v, %v", layout, err)
		}
		var got bytes.Buffer
		got.WriteString(string(layout.Header) + "\n")
		lines := 0
		for buf := []byte(nil); ; {
			var n int
			if buf, n, err = b.Next(buf); err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got.Write(buf[:n])
			lines += b.Decoded()
		}
		if got.String() != want || lines != 10001 {
			t.Errorf("blocks of %d bytes: %d lines were decoded, %d bytes, want 10001 and %d", size, lines, got.Len(), len(want))
		}
	}
}

func TestWindows1252(t *testing.T) {
	t.Parallel()
	if got, n := decodeLines([]byte("\x80 \x93\xe9\x94\n€\n")); string(got) != "€ “é”\n€\n" || n != 1 {
		t.Errorf("got %q, %d", got, n)
	}
}
