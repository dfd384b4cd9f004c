package kft

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/fit"
	"github.com/kernel-fried-tensor/kft/internal/nearest"
	"github.com/kernel-fried-tensor/kft/kernel"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/tt"
)

// sideMode is the side information of one mode.
type sideMode struct {
	encoder  *sideinfo.Encoder
	operator sideinfo.Operator
	has      []bool // by code: the id has a row
}

// SideReport says how a side table met its mode and what became of it.
type SideReport struct {
	Mode    string          `json:"mode"`
	Space   string          `json:"space"`
	Kernel  string          `json:"kernel,omitempty"`
	Columns int             `json:"columns"`           // of the operator
	Notices []string        `json:"notices,omitempty"` // about the operator
	Table   sideinfo.Report `json:"table"`
}

// readSide reads the side tables and builds an operator for each.
func (r *fitting) readSide(ctx context.Context) error {
	r.side = make([]*sideMode, len(r.table.Modes))
	tables, err := r.spec.SideTables()
	if err != nil {
		return err
	}
	names := r.spec.ModeNames()
	for _, t := range tables {
		at := slices.Index(names, t.Mode)
		s, report, err := r.sideOf(ctx, t, at)
		if err != nil {
			return fmt.Errorf("side information of %s: %w", t.Mode, err)
		}
		r.side[at] = s
		r.sideReports = append(r.sideReports, report)
		for _, n := range report.Table.Notices {
			r.warnings = append(r.warnings, fmt.Sprintf("side information of %s: %s", t.Mode, n))
		}
	}
	return nil
}

func (r *fitting) sideOf(ctx context.Context, spec sideinfo.Spec, at int) (*sideMode, SideReport, error) {
	mode, s := r.table.Modes[at], r.spec.Side
	report := SideReport{Mode: mode.Name, Space: s.Space}
	joined, err := sideinfo.Open(ctx, spec, mode, r.table.Dicts[at].IDs(), dataset.Format{Stdin: r.opt.Stdin})
	if err != nil {
		return nil, report, err
	}
	out := &sideMode{has: joined.Has}
	if out.encoder, report.Table, err = sideinfo.Fit(joined, sideinfo.EncodeOptions{}); err != nil {
		return nil, report, err
	}
	features, err := out.encoder.Encode(joined.Rows)
	if err != nil {
		return nil, report, err
	}
	if kind := s.ReplaceOf(mode.Name); kind != "" {
		if features, err = sideinfo.Replace(kind, features, r.spec.Seed); err != nil {
			return nil, report, err
		}
	}
	var k kernel.Kernel
	if s.Space != "primal" {
		report.Kernel = s.KernelOf(mode.Name)
		if k, err = kernel.Parse(report.Kernel); err != nil {
			return nil, report, err
		}
	}
	columns := s.Columns
	if s.Space == "dual" {
		columns = min(columns, features.N) // the default is above that of small modes
	}
	op, notices, err := sideinfo.New(s.Space, features, k, sideinfo.Options{Backend: r.engine, Columns: columns,
		NoIntercept: s.Intercept == "no", Learn: s.LengthScales == "learn", Seed: r.spec.Seed})
	if err != nil {
		return nil, report, err
	}
	report.Notices = notices
	if op.Matrix() == nil {
		return nil, report, fmt.Errorf("%d ids are too many for space %s; use dual", op.Rows(), s.Space)
	}
	if s.Space != "dual-paper" && s.Space != "primal" && s.LengthScales == "fixed" {
		// The axes that the data tells apart: conjugate gradients then need
		// fewer steps.
		if err := sideinfo.Rotate(op, counts(r.parts[dataset.Train].Codes[at], op.Rows())); err != nil {
			return nil, report, err
		}
	}
	out.operator, report.Columns = op, op.Columns()
	return out, report, nil
}

// counts counts the codes of a column.
func counts(codes []int32, n int) []float64 {
	sum := make([]float64, n)
	for _, c := range codes {
		sum[c]++
	}
	return sum
}

// sideInfo returns what the model builder needs of the side information.
func (r *fitting) sideInfo() model.SideInfo {
	s := r.spec.Side
	info := model.SideInfo{Variant: s.Variant, Coupled: s.Dual(), Operators: make([]tt.Operator, len(r.side)), Norms: make([]func(dst, x []float32, width int), len(r.side))}
	for at, side := range r.side {
		if side == nil {
			continue
		}
		info.Operators[at] = side.operator
		if s.Space == "dual-paper" {
			// T = K V, whose norm is v'K v.
			info.Norms[at] = func(dst, x []float32, width int) { sideinfo.Apply(r.engine, side.operator, dst, x, width) }
		}
	}
	return info
}

// kernels returns the operators whose length-scales are learned.
func (r *fitting) kernels() []fit.Kernel {
	var kernels []fit.Kernel
	for at, s := range r.side {
		if s != nil && len(s.operator.Theta()) > 0 {
			kernels = append(kernels, fit.Kernel{Mode: r.table.Modes[at].Name, Operator: s.operator})
		}
	}
	return kernels
}

// WithSide returns a model that also knows the entities of the given tables of
// side information, written as in a specification: store=new_stores.csv. Ids
// the model was not trained on are then predicted from their side row; those it
// was trained on stay as they are, to the bit.
func (m *Model) WithSide(ctx context.Context, tables []string) (*Model, error) {
	path, err := cpu.Choose()
	if err != nil {
		return nil, err
	}
	grown := *m
	grown.dicts, grown.side = slices.Clone(m.dicts), slices.Clone(m.side)
	fresh := make([][]int32, len(m.modes)) // new codes, by mode
	for _, text := range tables {
		if err := grown.addSide(ctx, text, fresh); err != nil {
			return nil, err
		}
	}
	return &grown, grown.extend(cpu.New(path, 0), fresh)
}

// A SideError is a side table that does not go with the model, whatever is in it.
type SideError struct{ Problem string }

func (e *SideError) Error() string { return "--side: " + e.Problem }

func sideErrorf(format string, args ...any) error { return &SideError{fmt.Sprintf(format, args...)} }

// addSide gives a mode the entities of a table.
func (m *Model) addSide(ctx context.Context, text string, fresh [][]int32) error {
	given, err := sideinfo.ParseSide(text)
	if err != nil {
		return &SideError{err.Error()}
	}
	names := m.spec.ModeNames()
	at := slices.Index(names, given.Mode)
	if at < 0 {
		return sideErrorf("the model has no mode %q%s; its modes are %s", given.Mode, nearest.Hint(given.Mode, names), strings.Join(names, ", "))
	}
	s := m.side[at]
	switch {
	case !m.informed[at]:
		return sideErrorf("the model was fitted without side information of mode %s and cannot use any; fit it with --side %s=TABLE", given.Mode, given.Mode)
	case isGrown(s):
		return sideErrorf("mode %s has a table already; join the two into one", given.Mode)
	case m.spec.Side.ReplaceOf(given.Mode) != "":
		return sideErrorf("the side information of mode %s was replaced by %s when the model was fitted (--side-replace), so a table of it says nothing", given.Mode, m.spec.Side.ReplaceOf(given.Mode))
	case given.Own():
		return sideErrorf("%s: own columns describe the ids of the fitted table alone; give a table of new ids", text)
	}
	spec, err := s.encoder.SpecFor(given)
	if err != nil {
		return &SideError{err.Error()}
	}
	frame, err := dataset.ReadFrame(ctx, spec.File, dataset.Format{})
	if err != nil {
		return err
	}
	joined, err := sideinfo.Entities(spec, m.modes[at], frame)
	if err != nil {
		return err
	}
	features, err := s.encoder.Encode(joined.Rows)
	if err != nil {
		return err
	}
	rows, _, err := s.operator.NewRows(features)
	if err != nil {
		return err
	}
	width := s.operator.Columns()
	added := &grownOperator{Operator: s.operator, rows: s.operator.Rows(), matrix: slices.Clone(s.operator.Matrix())}
	ids, has := slices.Clone(m.dicts[at].IDs()), slices.Clone(s.has)
	for i, id := range joined.IDs {
		code, known := m.dicts[at].Code([]byte(id))
		switch {
		case !known:
			fresh[at] = append(fresh[at], int32(len(ids)))
			ids, has = append(ids, id), append(has, true)
			added.matrix = append(added.matrix, rows[i*width:][:width]...)
			added.rows++
		case m.source(at, code) == fromPrior:
			// In the fitted table, but neither trained nor described until now.
			copy(added.matrix[int(code)*width:][:width], rows[i*width:][:width])
			has[code] = true
			fresh[at] = append(fresh[at], code)
		}
	}
	m.dicts[at] = dataset.NewDict(ids)
	m.side[at] = &sideMode{encoder: s.encoder, operator: added, has: has}
	return nil
}

// hashSide returns the hash of the operators, "" without any.
func hashSide(side []*sideMode) string {
	h := sha256.New()
	tables := 0
	for at, s := range side {
		if s != nil {
			tables++
			fmt.Fprintln(h, at, s.operator.Rows(), s.operator.Columns())
			h.Write(float32Bytes(s.operator.Matrix()))
		}
	}
	if tables == 0 {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

func float32Bytes(values []float32) []byte {
	out := make([]byte, 0, 4*len(values))
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out
}

// grownOperator is an operator with more rows.
type grownOperator struct {
	sideinfo.Operator
	rows   int
	matrix []float32
}

func isGrown(s *sideMode) bool {
	_, grown := s.operator.(*grownOperator)
	return grown
}

func (g *grownOperator) Rows() int         { return g.rows }
func (g *grownOperator) Matrix() []float32 { return g.matrix }

// extend gives the cores entities for new codes.
func (m *Model) extend(b backend.Backend, fresh [][]int32) error {
	names := m.spec.ModeNames()
	sizes := make([]int, len(m.dicts))
	for i, d := range m.dicts {
		sizes[i] = d.Len()
	}
	field := &tt.Field{Group: m.field.Group}
	for _, t := range m.field.Terms {
		train := &tt.Train{}
		for _, c := range t.Cores {
			grown, err := m.extendCore(b, c, names, sizes, fresh)
			if err != nil {
				return err
			}
			train.Cores = append(train.Cores, grown)
		}
		field.Terms = append(field.Terms, train)
	}
	m.field = field
	m.markTrained()
	return nil
}

func (m *Model) extendCore(b backend.Backend, c *tt.Core, names []string, sizes []int, fresh [][]int32) (*tt.Core, error) {
	at := model.Positions(c.Modes, names)
	var operators []tt.Operator
	for _, mode := range at {
		var op tt.Operator
		if s := m.side[mode]; s != nil {
			op = s.operator
		}
		operators = append(operators, op)
	}
	grown := *c
	var codes []int32
	if len(at) == 1 && c.Map != nil {
		codes = fresh[at[0]]
	}
	return &grown, grown.Extend(b, sizes, operators, codes)
}
