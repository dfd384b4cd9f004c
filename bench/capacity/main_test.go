package main

import (
	"io"
	"strings"
	"testing"
)

func TestArguments(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{"-processes 2,x": `"x" is not a number`, "-processes 0": "not a number", "-loop 9": "there are 3 loops"} {
		if err := run(t.Context(), strings.Fields(args), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", args, err, want)
		}
	}
}
