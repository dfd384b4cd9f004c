package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/spec"
)

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		code int
	}{
		{errors.New("disk full"), exitFailed},
		{usagef("wrong"), exitUsage},
		{errors.Join(nil, usagef("wrong")), exitUsage},
		{spec.Problems{{Path: "seed", Message: "bad"}}, exitUsage},
	} {
		if got := exitCode(c.err); got != c.code {
			t.Errorf("%v: %d", c.err, got)
		}
	}
}

// A panic becomes one line with its location.
func TestPanicIsOneLine(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	func() {
		defer func() {
			if p := recover(); p != nil {
				complain(&b, parallel.Caught(p), nil)
			}
		}()
		panic("boom")
	}()
	if !strings.Contains(b.String(), "TestPanicIsOneLine") {
		t.Errorf("%q", b.String())
	}
}
