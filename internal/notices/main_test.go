package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The notices of the program contain each direct dependency once, with its licence.
func TestNoticesOfProgram(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := write(&out, "github.com/kernel-fried-tensor/kft/cmd/kft"); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, path := range []string{"Go standard library", "gonum.org/v1/gonum", "golang.org/x/sys"} {
		if n := strings.Count(text, "\n"+path+" "); n != 1 {
			t.Errorf("%s: got %d sections, want 1", path, n)
		}
	}
	if strings.Contains(text, "\ngithub.com/kernel-fried-tensor/kft ") {
		t.Error("got a section about the program itself, want none")
	}
}

func TestLicences(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if _, err := licences(folder); err == nil {
		t.Error("a folder without a licence: got no error, want one")
	}
	for _, name := range []string{"LICENSE", "NOTICE.txt", "license.go", "README.md", "licence-mit"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	texts, err := licences(folder)
	if got := string(bytes.Join(texts, []byte(" "))); err != nil || got != "LICENSE NOTICE.txt licence-mit" {
		t.Errorf("got %q, %v; want LICENSE, NOTICE.txt and licence-mit", got, err)
	}
}
