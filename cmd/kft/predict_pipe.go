package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// A pipeRequest is one line of JSON. As many bytes as it says follow it: a table in any
// format that kft reads.
type pipeRequest struct {
	Bytes        int64     `json:"bytes"`
	Quantiles    []float64 `json:"quantiles"`
	Samples      int       `json:"samples"`
	Only         []string  `json:"only"` // columns to add, see kft.TableOptions; all without it
	Strict       bool      `json:"strict"`
	AllowUnknown bool      `json:"allow_unknown"`
}

// A pipeAnswer is one line of JSON. As many bytes as it says follow it: an Arrow file
// with the columns that kft predict adds. Instead, it can have an error.
type pipeAnswer struct {
	Bytes    int            `json:"bytes"`
	Rows     int            `json:"rows"`
	Unseen   map[string]int `json:"unseen,omitempty"` // by mode: rows predicted by the prior
	Warnings []string       `json:"warnings,omitempty"`
	Error    *message       `json:"error,omitempty"`

	// Of the first answer, which has no table: the columns that the model reads, and
	// those that it also reads if the table has them.
	Columns  []string `json:"columns,omitempty"`
	Optional []string `json:"optional,omitempty"`
}

// described returns the first answer.
func described(m *kft.Model) pipeAnswer {
	var a pipeAnswer
	for _, mode := range m.Modes() {
		if mode.Target() || mode.Computed() {
			continue
		}
		for _, column := range mode.Columns {
			if !slices.Contains(a.Columns, column) {
				a.Columns = append(a.Columns, column)
			}
		}
	}
	for _, column := range []string{m.Spec().Data.Weight, m.Spec().Data.Exposure} {
		if column != "" {
			a.Optional = append(a.Optional, column)
		}
	}
	return a
}

// longestRequest limits the line of a request.
const longestRequest = 1 << 20

// answer predicts the tables of requests until standard input ends. The model "-" is the
// bytes of the first request.
func (c *predictCommand) answer(e *env) error {
	if c.Table != "" || len(c.Cell) > 0 || c.Output != "" {
		return usagef("--pipe reads tables from requests; leave out the table, --cell and -o")
	}
	if _, err := c.inputs(); err != nil {
		return err
	}
	in, out := bufio.NewReaderSize(e.stdin, longestRequest), bufio.NewWriterSize(e.rawOut, 1<<16)
	m, err := c.pipeModel(e, in)
	if err != nil {
		return err
	}
	if err := send(out, described(m), nil); err != nil {
		return err
	}
	for e.ctx.Err() == nil {
		request, body, err := receive(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		answer, table := c.predicted(e.ctx, m, request, body)
		if err := send(out, answer, table); err != nil {
			return err
		}
	}
	return nil
}

// pipeModel reads the model from its file or the first request.
func (c *predictCommand) pipeModel(e *env, in *bufio.Reader) (*kft.Model, error) {
	if c.Model != "-" {
		m, _, err := c.open(e, c.Model)
		return m, err
	}
	_, body, err := receive(in)
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the input ended before a model")
	}
	if err != nil {
		return nil, err
	}
	m, err := kft.ReadModel(body)
	if err == nil {
		m, err = c.ofTarget(m, "the model")
	}
	if err != nil || len(c.Side) == 0 {
		return m, err
	}
	return m.WithSide(e.ctx, c.Side, nil)
}

// receive reads a request. The error is io.EOF if there is none.
func receive(in *bufio.Reader) (pipeRequest, *bytes.Buffer, error) {
	var request pipeRequest
	line, err := in.ReadSlice('\n')
	switch {
	case err == io.EOF && len(line) == 0:
		return request, nil, io.EOF
	case err != nil:
		return request, nil, fmt.Errorf("a request does not end within %d bytes; it must be one line of JSON", longestRequest)
	}
	if err := json.Unmarshal(line, &request); err != nil {
		return request, nil, fmt.Errorf("a request is not a line of JSON: %v", err)
	}
	if request.Bytes < 0 {
		return request, nil, fmt.Errorf("a request of %d bytes; use 0 or more", request.Bytes)
	}
	var body bytes.Buffer // grows with what arrives, not with what the request claims
	if _, err := io.CopyN(&body, in, request.Bytes); err != nil {
		return request, nil, fmt.Errorf("the input ended after %d of %d bytes of a request", body.Len(), request.Bytes)
	}
	return request, &body, nil
}

// predicted answers a request.
func (c *predictCommand) predicted(ctx context.Context, m *kft.Model, request pipeRequest, body io.Reader) (pipeAnswer, []byte) {
	opt := kft.TableOptions{
		Threads: c.Threads, Strict: request.Strict, AllowUnknown: request.AllowUnknown,
		Output:    tableio.Output{Format: "arrow", Compression: "none", AddedOnly: true},
		Quantiles: request.Quantiles, Samples: request.Samples, Only: request.Only,
	}
	var table bytes.Buffer
	sum, err := m.PredictTable(ctx, kft.Reader("X", body), &table, opt)
	if err != nil {
		problem := errorMessage(err)
		return pipeAnswer{Error: &problem}, nil
	}
	answer := pipeAnswer{Bytes: table.Len(), Rows: sum.Rows, Unseen: map[string]int{}, Warnings: sum.Warnings}
	for i, mode := range m.Modes() {
		if sum.Unseen[i] > 0 {
			answer.Unseen[mode.Name] = sum.Unseen[i]
		}
	}
	return answer, table.Bytes()
}

func send(out *bufio.Writer, answer pipeAnswer, table []byte) error {
	if err := writeLine(out, answer); err != nil {
		return err
	}
	if _, err := out.Write(table); err != nil {
		return err
	}
	return out.Flush()
}
