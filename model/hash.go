package model

import "encoding/hex"

// HashText returns a SHA-256 sum as the text that records use.
func HashText(sum [32]byte) string { return hex.EncodeToString(sum[:]) }
