package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/kernel-fried-tensor/kft"
)

// A bodyReader reads a JSON request token by token, so that what it keeps is bounded by
// the limits and every error names its field.
type bodyReader struct {
	*json.Decoder
	limit int // cells
}

func (s *Server) newBody(r *http.Request) (*bodyReader, error) {
	if _, err := contentType(r, jsonType); err != nil {
		return nil, err
	}
	b := &bodyReader{json.NewDecoder(r.Body), s.opt.Limits.Cells}
	b.UseNumber()
	return b, nil
}

// token reads a token. The end of the text is an error.
func (b *bodyReader) token() (json.Token, error) {
	t, err := b.Token()
	if err != nil {
		return nil, b.syntax(err)
	}
	return t, nil
}

func (b *bodyReader) syntax(err error) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return err
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF):
		return problemf(badJSON, "", "the JSON text ends too early, at byte %d", b.InputOffset())
	}
	return problemf(badJSON, "", "malformed JSON near byte %d: %v", b.InputOffset(), err)
}

// object reads an object and calls field for each key, which reads the value. A key may
// appear once.
func (b *bodyReader) object(path string, field func(key string) error) error {
	t, err := b.token()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		return problemf(invalidValue, path, "%s is not an object", nameOf(path))
	}
	var seen [8]string // objects of requests are small
	keys := seen[:0]
	for b.More() {
		t, err := b.token()
		if err != nil {
			return err
		}
		key := t.(string) // the decoder allows nothing else
		for _, k := range keys {
			if k == key {
				return problemf(invalidValue, join(path, key), "%s appears twice", join(path, key))
			}
		}
		if keys = append(keys, key); len(keys) > maxKeys {
			return problemf(invalidValue, path, "%s has more than %d keys", nameOf(path), maxKeys)
		}
		if err := field(key); err != nil {
			return err
		}
	}
	_, err = b.token()
	return err
}

// maxKeys limits the keys of an object.
const maxKeys = 1000

// list reads a list and calls item for each element, which reads it.
func (b *bodyReader) list(path string, item func(i int) error) error {
	t, err := b.token()
	if err != nil {
		return err
	}
	if t != json.Delim('[') {
		return problemf(invalidValue, path, "%s is not a list; write it in brackets, [ ]", nameOf(path))
	}
	for i := 0; b.More(); i++ {
		if err := item(i); err != nil {
			return err
		}
	}
	_, err = b.token()
	return err
}

// end checks that nothing follows the request.
func (b *bodyReader) end() error {
	if _, err := b.Token(); err != io.EOF {
		if err != nil {
			return b.syntax(err)
		}
		return problemf(badJSON, "", "there is more text after the request, at byte %d", b.InputOffset())
	}
	return nil
}

// finish checks the end of a request whose object was read with err, and that it has the
// field without which there is nothing to do.
func (b *bodyReader) finish(err error, given bool, field string) error {
	if err == nil {
		err = b.end()
	}
	if err == nil && !given {
		err = problemf(missingField, field, "the request has no %s", field)
	}
	return err
}

// scalar reads a value of type T: string, bool or json.Number.
func scalar[T any](b *bodyReader, path, what string) (T, error) {
	t, err := b.token()
	if err != nil {
		var zero T
		return zero, err
	}
	v, ok := t.(T)
	if !ok {
		return v, problemf(invalidValue, path, "%s is not %s", path, what)
	}
	return v, nil
}

func (b *bodyReader) text(path string) (string, error) { return scalar[string](b, path, "a text") }
func (b *bodyReader) boolean(path string) (bool, error) {
	return scalar[bool](b, path, "true or false")
}

func (b *bodyReader) number(path string) (float64, error) {
	n, err := scalar[json.Number](b, path, "a number")
	if err != nil {
		return 0, err
	}
	v, err := n.Float64()
	if err != nil {
		return 0, problemf(invalidValue, path, "%s: %s is too large", path, n)
	}
	return v, nil
}

// id reads an id or a value of a covariate: a text, an integer or another number with the same
// digits, true, false, or null for a missing value, which is an empty text.
func (b *bodyReader) id(path string) (string, error) {
	t, err := b.token()
	if err != nil {
		return "", err
	}
	switch v := t.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	case bool:
		return strconv.FormatBool(v), nil
	}
	return "", problemf(invalidValue, path, "%s is not a text, a number, true, false or null; write an id as in the table of the fit", path)
}

// cell reads one cell.
func (b *bodyReader) cell(path string) (kft.Cell, error) {
	cell := kft.Cell{}
	err := b.object(path, func(key string) error {
		id, err := b.id(join(path, key))
		cell[key] = id
		return err
	})
	return cell, err
}

// cells reads a list of cells.
func (b *bodyReader) cells() ([]kft.Cell, error) {
	var cells []kft.Cell
	err := b.list("cells", func(i int) error {
		if i >= b.limit {
			return problemf(tooManyCells, "cells", "a request may have %d cells; send several requests, or an Arrow stream", b.limit)
		}
		cell, err := b.cell(fmt.Sprintf("cells[%d]", i))
		cells = append(cells, cell)
		return err
	})
	return cells, err
}

// maxLevels limits the quantiles of a request.
const maxLevels = 200

// levels reads a list of levels of quantiles.
func (b *bodyReader) levels(path string) ([]float64, error) {
	levels := []float64{}
	err := b.list(path, func(i int) error {
		if i >= maxLevels {
			return problemf(invalidValue, path, "there are more than %d levels", maxLevels)
		}
		v, err := b.number(fmt.Sprintf("%s[%d]", path, i))
		levels = append(levels, v)
		return err
	})
	return levels, err
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func nameOf(path string) string {
	if path == "" {
		return "the request"
	}
	return path
}

func unknown(key, known string) error {
	return problemf(unknownField, key, "there is no field %q; the fields are %s", key, known)
}
