package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/celltext"
	"github.com/kernel-fried-tensor/kft/publicdata"
	"github.com/kernel-fried-tensor/kft/spec"
)

const (
	exitGood   = 0
	exitFailed = 1 // the data, the machine or the work
	exitUsage  = 2 // the call or the specification
)

// A usageError reports a wrong call.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// exitCode distinguishes wrong calls from failures.
func exitCode(err error) int {
	if has[*usageError](err) || has[spec.Problems](err) || has[*kft.SideError](err) || has[*kft.QuantileError](err) || has[*celltext.Error](err) || has[*kft.ChangeError](err) ||
		has[*publicdata.ExistsError](err) || has[*publicdata.InputOverwriteError](err) || slices.Contains(optionFields, kft.FieldPath(err)) {
		return exitUsage
	}
	return exitFailed
}

func has[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// complain writes an error to the user: one line that starts with "kft: ", or one line
// per problem of a specification. hasFlag reports the flags of the verb, which the
// advice can name.
func complain(w io.Writer, err error, hasFlag func(string) bool) {
	var problems spec.Problems
	if errors.As(err, &problems) {
		for _, p := range problems {
			complainLine(w, nameFlags(p.Error(), hasFlag))
		}
		return
	}
	text := withAdvice(err, hasFlag)
	if errors.Is(err, context.Canceled) {
		text = "interrupted; nothing was written"
	}
	complainLine(w, text)
}

func complainLine(w io.Writer, text string) {
	text = strings.TrimPrefix(text, "kft: ")
	fmt.Fprintf(w, "kft: %s\n", strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}
