package sideinfo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// encoderState is the persisted form of an encoder.
type encoderState struct {
	Version int      `json:"version"`
	Spec    Spec     `json:"spec"`
	Columns []column `json:"columns"`
}

const encoderVersion = 1

// Spec returns the spec of the side information to which the encoder was fitted.
func (e *Encoder) Spec() Spec { return e.spec }

// MarshalJSON encodes the encoder as JSON. The encoder read back gives the same bits.
func (e *Encoder) MarshalJSON() ([]byte, error) {
	return json.Marshal(encoderState{Version: encoderVersion, Spec: e.spec, Columns: e.columns})
}

// UnmarshalJSON reads the output of MarshalJSON. It returns an error for any text
// that MarshalJSON cannot have written.
func (e *Encoder) UnmarshalJSON(data []byte) error {
	var s encoderState
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return fmt.Errorf("encoder of side information: %w", err)
	}
	if s.Version != encoderVersion {
		return fmt.Errorf("encoder of side information: unknown version %d; this program reads version %d", s.Version, encoderVersion)
	}
	if _, err := ParseSpec(s.Spec.String()); err != nil {
		return fmt.Errorf("encoder of side information: %w", err)
	}
	if ids := (Spec{Mode: s.Spec.Mode, Columns: s.Spec.IDColumns}); len(s.Spec.IDColumns) > 0 {
		if _, err := ParseSpec(ids.String()); err != nil {
			return fmt.Errorf("encoder of side information: %w", err)
		}
	}
	for i := range s.Columns {
		if err := s.Columns[i].check(); err != nil {
			return fmt.Errorf("encoder of side information, column %q: %w", s.Columns[i].Name, err)
		}
		s.Columns[i].index()
	}
	e.spec, e.columns = s.Spec, s.Columns
	e.setNames()
	return nil
}

// check returns an error unless the column satisfies the assumptions of encode.
func (c *column) check() error {
	if _, err := ParseType(string(c.Type)); err != nil {
		return err
	}
	means := 1
	switch {
	case c.Bare && !c.Indicator:
		return errors.New("it has no encoded column")
	case c.Bare, c.Type.levelled():
		means = 0
	case c.Type.period() > 0:
		means = 2
	}
	for _, v := range append([]float64{c.SD, c.Scale}, c.Mean...) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("a number is not finite")
		}
	}
	switch {
	case len(c.Mean) != means:
		return fmt.Errorf("it has %d means, expected %d", len(c.Mean), means)
	case c.Bare && len(c.Levels)+c.Buckets > 0:
		return errors.New("it has levels without columns")
	case means == 1 && !(c.SD > 0):
		return fmt.Errorf("its standard deviation is %g, expected a positive number", c.SD)
	case c.Type.several() && !c.Bare && !(c.Scale > 0):
		return fmt.Errorf("its scale is %g, expected a positive number", c.Scale)
	case c.Buckets < 0 || c.Buckets > len(c.Hashed) || c.Buckets == 0 && len(c.Hashed) > 0:
		return fmt.Errorf("it has %d columns for %d hashed levels", c.Buckets, len(c.Hashed))
	case means > 0 && (len(c.Levels) > 0 || c.Buckets > 0 || c.Other):
		return fmt.Errorf("it has levels, which type %s does not allow", c.Type)
	}
	return nil
}
