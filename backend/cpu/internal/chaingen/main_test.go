package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestGeneratedFilesAreCurrent(t *testing.T) {
	for _, set := range []isa{avx512, avx2} {
		path := filepath.Join("..", "..", fileName(set))
		have, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(have) != generate(set) {
			t.Errorf("%s is not what chaingen writes; run go generate in backend/cpu", path)
		}
	}
}
