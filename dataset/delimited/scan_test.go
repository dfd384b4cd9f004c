package delimited

import (
	"bytes"
	"slices"
	"testing"
)

// The fast kernels give the results of the portable ones for every text.
func FuzzKernels(f *testing.F) {
	f.Add([]byte("2015,1,2106,10550,72\r\n2015,1,2106,10553,12\r\n2015,1,2106,10626, 12\r\n"), byte(','))
	f.Add([]byte(",,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n,,,\n"), byte(','))
	f.Add([]byte("no separator at all, in a text of more than sixty-four bytes, at least none of this kind"), byte(';'))
	f.Add(bytes.Repeat([]byte("12345678;123456789;1;\n"), 20), byte(';'))
	f.Fuzz(func(t *testing.T, text []byte, delimiter byte) {
		if !isDelimiter(delimiter) || bytes.IndexByte(text, 0) >= 0 {
			return
		}
		padded := append(slices.Clone(text), make([]byte, padding)...)
		text = padded[:len(text)]
		fast, slow := make([]uint32, len(text)+2*padding), make([]uint32, len(text)+2*padding)
		n, lines := separators(fast[1:], text, delimiter)
		want, wantLines := separatorsGeneric(slow[1:], text, delimiter)
		if n != want || lines != wantLines || lines != bytes.Count(text, newline) || !slices.Equal(fast[1:n+1], slow[1:n+1]) {
			t.Fatalf("got separators at %v, want %v", fast[1:n+1], slow[1:want+1])
		}
		naive := 0
		for _, c := range text {
			if c == delimiter || c == '\n' {
				naive++
			}
		}
		if n != naive {
			t.Fatalf("got %d separators, want %d", n, naive)
		}
		ends := fast[:n+1]
		ends[0] = ^uint32(0)
		for columns := 1; columns <= min(n, 4); columns++ {
			var keep []int32
			for row := 0; row < n/columns; row += 1 + row%3 {
				keep = append(keep, int32(row))
			}
			for from := range columns {
				for to := from + 1; to <= columns; to++ {
					for cut := range uint32(2) {
						behind := delimiter
						if cut == 1 {
							behind = '\r'
						}
						fastWords, slowWords := make([]uint64, len(keep)), make([]uint64, len(keep))
						fieldWords(fastWords, padded, ends, keep, columns, from, to, cut, behind)
						fieldWordsGeneric(slowWords, padded, ends, keep, columns, from, to, cut, behind)
						if !slices.Equal(fastWords, slowWords) {
							t.Fatalf("%d columns, %d to %d: got words %x, want %x", columns, from, to, fastWords, slowWords)
						}
					}
				}
			}
		}
	})
}
