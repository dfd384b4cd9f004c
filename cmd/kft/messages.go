package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/spec"
)

// messagesFlag makes any verb write JSON lines to standard error, for programs that run
// it.
const messagesFlag = "--messages=json"

// cutMessagesFlag returns the arguments without the flag, and whether they had it. It is
// not part of the grammar, so that an error of the parser is a JSON line too.
func cutMessagesFlag(args []string) ([]string, bool) {
	end := slices.Index(args, "--")
	if end < 0 {
		end = len(args)
	}
	at := slices.Index(args[:end], messagesFlag)
	if at < 0 {
		return args, false
	}
	return slices.Concat(args[:at], args[at+1:]), true
}

// A message is a line of standard error in this form.
type message struct {
	Type string `json:"type"` // note, warning, error; package progress adds progress
	Text string `json:"text"`

	errorPlace
}

// errorPlace is what an error tells a program besides its text.
type errorPlace struct {
	Code   string `json:"code,omitempty"`  // see kft.ErrorCode; usage for a wrong call, bug for one of kft
	Field  string `json:"field,omitempty"` // path of the specification field that can fix it
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"` // line or row of the file, from 1
	Column string `json:"column,omitempty"`
}

// messages is a writer that turns each line of text into a note or a warning.
type messages struct {
	mutex sync.Mutex
	w     io.Writer
	line  []byte // not ended yet
}

func (m *messages) Write(p []byte) (int, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.line = append(m.line, p...)
	for {
		line, rest, ended := bytes.Cut(m.line, []byte("\n"))
		if !ended {
			return len(p), nil
		}
		m.line = bytes.Clone(rest)
		if len(line) == 0 {
			continue
		}
		out := message{Type: "note", Text: string(line)}
		if text, isWarning := strings.CutPrefix(out.Text, "warning: "); isWarning {
			out.Type, out.Text = "warning", text
		}
		if err := writeLine(m.w, out); err != nil {
			return 0, err
		}
	}
}

// errors writes one line per problem.
func (m *messages) errors(err error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for _, problem := range errorMessages(err) {
		writeLine(m.w, problem) // nobody is left to be told about its error
	}
}

// errorMessages describes an error: one message, or one per problem of a specification.
func errorMessages(err error) []message {
	var problems spec.Problems
	if !errors.As(err, &problems) {
		return []message{errorMessage(err)}
	}
	var all []message
	for _, p := range problems {
		all = append(all, message{Type: "error", Text: p.Error(), errorPlace: errorPlace{Code: "specification", Field: p.Path}})
	}
	return all
}

func errorMessage(err error) message {
	out := message{Type: "error", Text: strings.TrimPrefix(err.Error(), "kft: "), errorPlace: errorPlace{Code: kft.ErrorCode(err), Field: kft.FieldPath(err)}}
	var usage *usageError
	if errors.As(err, &usage) {
		out.Code = "usage"
	}
	var input *kft.InputError
	if errors.As(err, &input) {
		out.File, out.Line, out.Column = input.File, input.Line, input.Column
	}
	return out
}

// writeLine writes a value as one line of JSON.
func writeLine(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}
