package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/spec"
)

const (
	exitGood   = 0
	exitFailed = 1 // the data, the machine or the work
	exitUsage  = 2 // the call or the specification
)

// A usageError is a wrong call.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// exitCode tells wrong calls from failures.
func exitCode(err error) int {
	var usage *usageError
	var problems spec.Problems
	var side *kft.SideError
	var quantile *kft.QuantileError
	if errors.As(err, &usage) || errors.As(err, &problems) || errors.As(err, &side) || errors.As(err, &quantile) {
		return exitUsage
	}
	return exitFailed
}

// complain writes an error for a person: a line beginning with kft, or, for a
// specification, a line a problem.
func complain(w io.Writer, err error) {
	var problems spec.Problems
	if errors.As(err, &problems) {
		for _, p := range problems {
			complainLine(w, p.Error())
		}
		return
	}
	text := err.Error()
	if errors.Is(err, context.Canceled) {
		text = "interrupted; nothing was written"
	}
	complainLine(w, text)
}

func complainLine(w io.Writer, text string) {
	text = strings.TrimPrefix(text, "kft: ")
	fmt.Fprintf(w, "kft: %s\n", strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}
