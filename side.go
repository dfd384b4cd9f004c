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

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/fit"
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
	Learned []Learned       `json:"learned,omitempty"` // parameters of the kernel, where length-scales are learned
	Kept    int             `json:"kept,omitempty"`    // rows of ids not in the data that the model knows
	Notices []string        `json:"notices,omitempty"` // about the operator and what is kept
	Table   sideinfo.Report `json:"table"`
}

// Learned is a parameter of a kernel at the start of the fit and at its end. A
// length-scale is in standard deviations of its column.
type Learned struct {
	Name  string  `json:"name"`
	Start float64 `json:"start"`
	End   float64 `json:"end"`
}

// readSide reads the side tables and builds an operator for each.
func (r *fitting) readSide(ctx context.Context) error {
	r.side, r.extra = make([]*sideMode, len(r.table.Modes)), make([]*sideinfo.Joined, len(r.table.Modes))
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
	r.extra[at] = joined.Extra
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
		notice, err := out.encoder.PeriodNotice(k)
		if err != nil {
			return nil, report, err
		}
		if notice != "" {
			report.Table.Notices = append(report.Table.Notices, notice)
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
	if s.Space != "dual-paper" && s.Space != "primal" && s.LengthScales == "fixed" {
		// The axes that the data tells apart: conjugate gradients then need
		// fewer steps.
		if err := sideinfo.Rotate(op, counts(r.parts[dataset.Train].Codes[at], op.Rows())); err != nil {
			return nil, report, err
		}
	}
	out.operator, report.Columns = op, op.Columns()
	if s.LengthScales == "learn" {
		names := op.ThetaNames()
		for i, theta := range op.Theta() {
			report.Learned = append(report.Learned, Learned{Name: names[i], Start: math.Exp(theta), End: math.Exp(theta)})
		}
	}
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

// reportLearned notes where the kernels' parameters ended.
func (r *fitting) reportLearned() {
	for i, report := range r.sideReports {
		at := slices.Index(r.spec.ModeNames(), report.Mode)
		for p, theta := range r.side[at].operator.Theta() {
			if p < len(report.Learned) {
				r.sideReports[i].Learned[p].End = math.Exp(theta)
			}
		}
	}
}

// warnUnused says what of the side information, as it was asked for, has no
// effect.
func (r *fitting) warnUnused() {
	s := r.spec.Side
	names := r.spec.ModeNames()
	for at, side := range r.side {
		if side != nil && !r.model.informed[at] {
			r.warnings = append(r.warnings, fmt.Sprintf("the side information of %s has no effect: no term has a core of %s in a variant other than plain", names[at], names[at]))
		}
	}
	for _, text := range s.Kernels {
		if mode, _, named := strings.Cut(text, "="); named && r.side[slices.Index(names, mode)] == nil {
			r.warnings = append(r.warnings, fmt.Sprintf("kernel %s has no effect: mode %s has no side information", text, mode))
		}
	}
	if s.Space == "dual-paper" && s.LengthScales == "learn" {
		r.warnings = append(r.warnings, "length-scales are not learned in the space dual-paper; use dual")
	}
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
