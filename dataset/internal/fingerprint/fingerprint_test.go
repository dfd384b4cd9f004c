package fingerprint

import (
	"encoding/hex"
	"testing"
)

func TestSum(t *testing.T) {
	t.Parallel()
	text := []byte("year,month,store,item,bottles\n2015,1,2106,10550,72\n")
	// Model files contain hashes of tables, so the sums must never change.
	for n, want := range map[int]string{
		0:         "a485e83b370bc9593882ceba85ce908d71125ae5884954437745a1e92160b6c6",
		31:        "393a56f34d59a36b16f9d522ba9d0c403587d57e8a2997ffc0d7497f7ec6fef4",
		len(text): "a71c0707b763dd831c880a0a741fe87bb79c444e255a9322cf07ed0d58f6a1e0",
	} {
		sum := Sum(text[:n])
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%d bytes: got %s, want %s", n, got, want)
		}
		for i := range n {
			changed := append([]byte(nil), text[:n]...)
			changed[i] ^= 1
			if Sum(changed) == sum {
				t.Errorf("%d bytes: a change of byte %d does not change the sum", n, i)
			}
		}
	}
}
