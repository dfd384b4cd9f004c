module github.com/kernel-fried-tensor/kft

go 1.26.8

require (
	github.com/alecthomas/kong v1.16.0
	github.com/goccy/go-yaml v1.19.2
	github.com/klauspost/compress v1.20.0
	github.com/vbauerster/mpb/v8 v8.9.3
	golang.org/x/sys v0.49.0
	gonum.org/v1/gonum v0.17.0
)

require (
	github.com/VividCortex/ewma v1.2.0 // indirect
	github.com/acarl005/stripansi v0.0.0-20180116102854-5a71ef0e047d // indirect
	github.com/mattn/go-runewidth v0.0.16 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
)
