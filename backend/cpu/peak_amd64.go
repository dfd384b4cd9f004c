package cpu

//go:noescape
func fmaLoop512(iterations int)

//go:noescape
func fmaLoop256(iterations int)
