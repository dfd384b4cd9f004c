package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestGeneratedFilesAreCurrent(t *testing.T) {
	t.Parallel()
	for name, text := range files() {
		path := filepath.Join("..", "..", name)
		have, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(have) != text {
			t.Errorf("%s is out of date; run go generate in backend/cpu", path)
		}
	}
}
