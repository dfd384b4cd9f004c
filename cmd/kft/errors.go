package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/backend/mpi"
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
	var usage *usageError
	var problems spec.Problems
	var side *kft.SideError
	var quantile *kft.QuantileError
	var cell *celltext.Error
	var change *kft.ChangeError
	var exists *publicdata.ExistsError
	var rank *mpi.RankError
	var overwritten *publicdata.InputOverwriteError
	if errors.As(err, &usage) || errors.As(err, &problems) || errors.As(err, &side) || errors.As(err, &quantile) || errors.As(err, &cell) || errors.As(err, &change) ||
		errors.As(err, &exists) || errors.As(err, &rank) || errors.As(err, &overwritten) {
		return exitUsage
	}
	return exitFailed
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
