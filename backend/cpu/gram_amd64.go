package cpu

// gramNarrow512 adds panel' panel to dst, for 1 <= r <= 16 and n >= 1.
//
//go:noescape
func gramNarrow512(dst, panel *float32, n, r int)
