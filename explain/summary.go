package explain

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
)

// A Summary explains a model as a whole.
type Summary struct {
	Scale string `json:"scale"`
	// Terms have their share in the variance of the field, as measured by the fit.
	Terms []model.TermContribution `json:"terms"`
	// Importances of modes and columns by permutation; nil without a table.
	Importances []Importance `json:"importances,omitempty"`
	Part        string       `json:"part,omitempty"`    // the part of the table that they were measured on
	Trained     bool         `json:"trained,omitempty"` // whether the model was trained on that part too
	Curves      []Curve      `json:"curves"`
}

// Model explains a model as a whole. With a source, which must be the table of the fit, it
// also measures the importance of modes and columns.
func Model(ctx context.Context, m *model.Model, source *tableio.Source, opt model.TableOptions) (*Summary, error) {
	x, err := New(m)
	if err != nil {
		return nil, err
	}
	var fitted *evaluate.Fitted
	if source != nil {
		if fitted, err = evaluate.ReadFitted(ctx, m, *source, opt); err != nil {
			return nil, err
		}
	}
	return x.Summarize(ctx, fitted, ImportanceOptions{})
}

// Summarize explains the model as a whole. With a table, which must be that of the fit,
// it measures importances on the validation set, or on the test set without one or if the model
// was trained on the validation set and not on that; f is nil without a table.
func (x *Explainer) Summarize(ctx context.Context, f *evaluate.Fitted, opt ImportanceOptions) (*Summary, error) {
	s := &Summary{Scale: x.m.Spec().Transform, Terms: x.m.Record().Terms, Curves: []Curve{}}
	if f != nil {
		trainedOn := x.m.Record().Refit.Saw
		part, rows := dataset.Valid, f.Part(dataset.Valid)
		if len(rows.Y) == 0 || trainedOn(part) {
			if test := f.Part(dataset.Test); len(rows.Y) == 0 || len(test.Y) > 0 && !trainedOn(dataset.Test) {
				part, rows = dataset.Test, test
			}
		}
		if len(rows.Y) == 0 {
			return nil, fmt.Errorf("the fit had no validation and no test set, so there are no rows to measure importances on; its split was %s", x.m.Record().Split)
		}
		var err error
		if s.Importances, err = x.Importances(ctx, f.Engine, rows, opt); err != nil {
			return nil, err
		}
		s.Part, s.Trained = part.String(), trainedOn(part)
	}
	for mode := range x.m.Modes() {
		curves, err := x.Curves(mode, opt.Columns)
		if err != nil {
			return nil, err
		}
		for _, c := range curves {
			for _, p := range c.Points {
				if math.IsNaN(p.Effect) || math.IsInf(p.Effect, 0) {
					return nil, fmt.Errorf("the effect of %s at %s is not a finite number; fit the model again", c.Name(), p.Label)
				}
			}
		}
		s.Curves = append(s.Curves, curves...)
	}
	return s, nil
}

// Rows names the rows that importances were measured on, as in "validation set".
func (s *Summary) Rows() string {
	name := s.Part + " set"
	if s.Part == dataset.Valid.String() {
		name = "validation set"
	}
	if s.Trained {
		name += ", on which the model was trained too,"
	}
	return name
}

// WriteText writes the summary in words.
func (s *Summary) WriteText(w io.Writer) error {
	var b strings.Builder
	t := table{rows: [][]string{{"term", "share of the variance"}}}
	for _, term := range s.Terms {
		name := spec.ReadableTerms(term.Term)
		if term.Removed {
			name += " (removed)"
		}
		t.rows = append(t.rows, []string{name, fmt.Sprintf("%.1f %%", 100*term.Share)})
	}
	t.write(&b)
	if s.Importances != nil {
		fmt.Fprintf(&b, "Fall of R2 (%s) on the %s if values are exchanged at random:\n", s.Scale, s.Rows())
		t = table{rows: [][]string{{"mode or column", "fall", "sd"}}}
		for _, i := range s.Importances {
			name := i.Mode
			if i.Column != "" {
				name += "." + i.Column
			}
			t.rows = append(t.rows, []string{name, fmt.Sprintf("%.4f", i.Loss), fmt.Sprintf("%.4f", i.SD)})
		}
		t.write(&b)
	}
	for _, c := range s.Curves {
		c.write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Name names what the curve is of, as in "item.price" or "time, month of the year".
func (c Curve) Name() string {
	switch c.Column {
	case "":
		return c.Mode
	case Season:
		return c.Mode + ", " + Season
	}
	return c.Mode + "." + c.Column
}

// write writes the range of the curve and its first, lowest, highest and last points.
func (c Curve) write(b *strings.Builder) {
	low, high := c.Points[0], c.Points[0]
	for _, p := range c.Points {
		if p.Effect < low.Effect {
			low = p
		}
		if p.Effect > high.Effect {
			high = p
		}
	}
	fmt.Fprintf(b, "Effect of %s (%s): lowest %s at %s, highest %s at %s\n", c.Name(), plural.Count(len(c.Points), "point"), signed(low.Effect), low.Label, signed(high.Effect), high.Label)
}
