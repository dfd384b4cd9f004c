package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestGeneratedFilesAreCurrent(t *testing.T) {
	for name, text := range files() {
		path := filepath.Join("..", "..", name)
		have, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(have) != text {
			t.Errorf("%s is not what chaingen writes; run go generate in backend/cpu", path)
		}
	}
}
