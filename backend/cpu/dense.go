package cpu

//go:generate go run ./internal/asmgen
