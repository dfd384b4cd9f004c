// Package operators computes the operators of the modes of a fit, the matrices of which cores are
// regressions: from side tables and from numeric covariates. It also finds the groups of ids.
package operators

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/kernel"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/sidetable"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train/design"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// An Input is what the operators of a fit depend on.
type Input struct {
	Spec   spec.Spec
	Table  *dataset.Table // its modes and dictionaries
	Codes  func(dataset.Part) [][]int32
	Engine backend.Backend
	Tables map[string]tableio.Source // named tables in place of the files of side tables
	Stdin  io.Reader                 // the table called "-"

	SideBySide func(steps ...func() error) error // runs steps that need nothing of each other
	Continued  *model.Model                      // the first training, if this is a refit that continues it

	// Cache has what fits of the same table share, nil if the fit shares nothing. Rows
	// identifies the training rows of a fit that is only compared; nil for others.
	Cache *Cache
	Rows  func() string
}

// A Set has the operators of the modes of a fit.
type Set struct {
	Side     []*model.Side      // by mode
	Extra    []*sideinfo.Joined // by mode: side rows of ids not in the data
	Groups   []*sideinfo.Groups // by mode, nil without groups
	Reports  []model.SideReport
	Warnings []string

	in Input
}

// New computes the operators of a fit.
func New(ctx context.Context, in Input) (*Set, error) {
	n := len(in.Table.Modes)
	s := &Set{Side: make([]*model.Side, n), Extra: make([]*sideinfo.Joined, n), Groups: make([]*sideinfo.Groups, n), in: in}
	if err := s.readSide(ctx); err != nil {
		return nil, err
	}
	return s, s.addCurves()
}

// readSide reads the side tables and builds an operator for each.
func (s *Set) readSide(ctx context.Context) error {
	tables, err := s.in.Spec.SideTables()
	if err != nil {
		return err
	}
	names := s.in.Spec.ModeNames()
	columns := s.groupColumns()
	tables = withIDGroups(tables, names, columns)
	reports, steps := make([]model.SideReport, len(tables)), make([]func() error, len(tables))
	for i, t := range tables {
		steps[i] = func() (err error) {
			at := slices.Index(names, t.Mode)
			if s.Side[at], reports[i], err = s.sideFor(ctx, t, at, columns[t.Mode]); err != nil {
				return sideError(ctx, t.Mode, err)
			}
			return nil
		}
	}
	if err := s.in.SideBySide(steps...); err != nil {
		return err
	}
	for i, t := range tables {
		for _, n := range reports[i].Table.Notices {
			s.Warnings = append(s.Warnings, fmt.Sprintf("side information of %s: %s", t.Mode, n))
		}
	}
	s.Reports = append(s.Reports, reports...)
	return nil
}

// CheckFiles returns the error of a side table whose file does not exist, before anything
// else is read.
func CheckFiles(ctx context.Context, s spec.Spec, named map[string]tableio.Source) error {
	tables, err := s.SideTables()
	if err != nil {
		return err
	}
	for _, t := range tables {
		if _, known := named[t.File]; known || t.FromIDs() || t.File == "-" {
			continue
		}
		if _, err := os.Stat(t.File); errors.Is(err, fs.ErrNotExist) {
			_, err := tableio.ReadFrame(ctx, tableio.Files(t.File), tableio.Format{})
			return sideError(ctx, t.Mode, err)
		}
	}
	return nil
}

// Check returns the first error of the side tables of a specification: a file that cannot be
// read, a column that it lacks, ids that are not those of the table.
func Check(ctx context.Context, s spec.Spec, table *dataset.Table, named map[string]tableio.Source) error {
	tables, err := s.SideTables()
	if err != nil {
		return err
	}
	for _, t := range tables {
		at := slices.Index(s.ModeNames(), t.Mode)
		if t.File == "-" && named == nil || at < 0 {
			continue // standard input is read once; the fit reports the mode
		}
		if _, err := sideinfo.Open(ctx, t, tableio.Named(named, t.File), table.Modes[at], table.Dicts[at].IDs(), tableio.Format{}); err != nil {
			return sideError(ctx, t.Mode, err)
		}
	}
	return nil
}

// sideError says which side table an error is about.
func sideError(ctx context.Context, mode string, err error) error {
	if fielderr.Path(err) == "" && ctx.Err() == nil {
		err = fielderr.Errorf("side.tables", "%w", err)
	}
	return fmt.Errorf("side information of %s: %w", mode, err)
}

// sideOf reads one side table, that of mode at, and its groups by the given columns,
// encodes its rows and builds the operator. It returns nil for a table of groups only.
func (s *Set) sideOf(ctx context.Context, table sideinfo.Spec, at int, groups []string) (*model.Side, model.SideReport, error) {
	mode, how := s.in.Table.Modes[at], &s.in.Spec.Side
	report := model.SideReport{Mode: mode.Name}
	joined, err := sideinfo.Open(ctx, table.WithGroups(groups), tableio.Named(s.in.Tables, table.File), mode, s.in.Table.Dicts[at].IDs(), tableio.Format{Stdin: s.in.Stdin})
	if err != nil {
		return nil, report, err
	}
	s.Extra[at], report.Table = joined.Extra, joined.Report
	if len(groups) > 0 {
		if s.Groups[at], report.Groups, err = s.groupsOf(joined, at, groups); err != nil {
			return nil, report, err
		}
	}
	if table.OnlyGroups() {
		return nil, report, nil
	}
	out := &model.Side{Has: joined.Has}
	report.Space = how.Space
	if out.Encoder, report.Table, err = sideinfo.Fit(joined, sideinfo.EncodeOptions{}); err != nil {
		return nil, report, err
	}
	var encoded []string
	for _, c := range report.Table.Columns {
		if !c.Constant {
			encoded = append(encoded, c.Name)
		}
	}
	out.Table = sidetable.New(joined.Rows, encoded, out.Encoder.Plain)
	features, err := out.Encoder.Encode(joined.Rows)
	if err != nil {
		return nil, report, err
	}
	if kind := how.PlaceboOf(mode.Name); kind != "" {
		if features, err = sideinfo.Placebo(kind, features, s.in.Spec.Seed); err != nil {
			return nil, report, err
		}
	}
	var k kernel.Kernel
	if how.Space != "primal" {
		report.Kernel = how.KernelOf(mode.Name)
		if k, err = kernel.Parse(report.Kernel); err != nil {
			return nil, report, err
		}
		notice, err := out.Encoder.PeriodNotice(k)
		if err != nil {
			return nil, report, err
		}
		if notice != "" {
			report.Table.Notices = append(report.Table.Notices, notice)
		}
	}
	columns := how.Columns
	if how.Space == "dual" {
		columns = min(columns, features.N) // the default exceeds the number of ids of small modes
	}
	op, notices, err := sideinfo.New(how.Space, features, k, sideinfo.Options{Backend: s.in.Engine, Columns: columns,
		NoIntercept: how.Intercept == "no", Learn: how.LengthScales == "learn", Seed: s.in.Spec.Seed})
	if err != nil {
		return nil, report, err
	}
	report.Notices = notices
	if how.Space != "dual-unwhitened" && how.Space != "primal" && how.LengthScales == "fixed" {
		// Rotate to the axes that the training rows distinguish best, so that conjugate
		// gradients need fewer steps.
		if err := sideinfo.Rotate(op, counts(s.in.Codes(dataset.Train)[at], op.Rows())); err != nil {
			return nil, report, err
		}
	}
	out.Operator, report.Columns = op, op.Columns()
	if how.LengthScales != "learn" {
		sideinfo.ForgetFeatures(op)
	} else {
		names := op.ThetaNames()
		for i, theta := range op.Theta() {
			report.Learned = append(report.Learned, model.Learned{Name: names[i], Start: math.Exp(theta), End: math.Exp(theta)})
		}
	}
	return out, report, nil
}

// counts returns the number of rows per code of a column.
func counts(codes []int32, n int) []float64 {
	sum := make([]float64, n)
	for _, c := range codes {
		sum[c]++
	}
	return sum
}

// ForTerms returns the side information in the form that package design needs.
func (s *Set) ForTerms() design.Side {
	how := s.in.Spec.Side
	info := design.Side{Variant: how.Variant, Coupled: how.Dual(), Operators: make([]regression.Operator, len(s.Side)), Norms: make([]func(dst, x []float32, width int), len(s.Side))}
	for at, side := range s.Side {
		if side == nil {
			continue
		}
		info.Operators[at] = side.Operator
		if how.Space == "dual-unwhitened" {
			// T = K V, and the penalty is the norm v' K v.
			info.Norms[at] = func(dst, x []float32, width int) { sideinfo.Apply(s.in.Engine, side.Operator, dst, x, width) }
		}
	}
	return info
}

// Kernels returns the operators with length-scales to learn.
func (s *Set) Kernels() []solver.Kernel {
	var kernels []solver.Kernel
	for at, side := range s.Side {
		if side != nil && len(side.Operator.Theta()) > 0 {
			kernels = append(kernels, solver.Kernel{Mode: s.in.Table.Modes[at].Name, Operator: side.Operator})
		}
	}
	return kernels
}

// ReportLearned records the learned values of the kernel parameters.
func (s *Set) ReportLearned() {
	for i, report := range s.Reports {
		at := slices.Index(s.in.Spec.ModeNames(), report.Mode)
		if s.Side[at] == nil {
			continue // groups only
		}
		for p, theta := range s.Side[at].Operator.Theta() {
			if p < len(report.Learned) {
				s.Reports[i].Learned[p].End = math.Exp(theta)
			}
		}
	}
}

// Unused returns warnings about side information and kernels of the specification that have
// no effect. The variant plain, given or chosen by a comparison, says itself that no term uses it.
func (s *Set) Unused(m *model.Model) (warnings []string) {
	how := s.in.Spec.Side
	names := s.in.Spec.ModeNames()
	for at, side := range s.Side {
		if side != nil && how.Variant != "plain" && !m.Informed(at) && s.Groups[at] == nil && !s.in.Table.Modes[at].Smooth() {
			warnings = append(warnings, fmt.Sprintf("the side information of %s has no effect: no term has a core of %s with a variant other than plain", names[at], names[at]))
		}
	}
	for _, text := range how.Kernels {
		if mode, _, named := strings.Cut(text, "="); named && s.Side[slices.Index(names, mode)] == nil {
			warnings = append(warnings, fmt.Sprintf("kernel %s has no effect: mode %s has no side information", text, mode))
		}
	}
	warnings = append(warnings, s.unusedGroups()...)
	if how.Space == "dual-unwhitened" && how.LengthScales == "learn" {
		warnings = append(warnings, "length-scales cannot be learned in the space dual-unwhitened; set side.space to dual")
	}
	return warnings
}

// Hash returns the hash of the operators and groups, "" without any.
func (s *Set) Hash() string {
	h := sha256.New()
	tables := 0
	for at, side := range s.Side {
		if side != nil {
			tables++
			fmt.Fprintln(h, at, side.Operator.Rows(), side.Operator.Columns())
			h.Write(float32Bytes(side.Operator.Matrix()))
		}
	}
	for at, g := range s.Groups {
		if g != nil {
			tables++
			fmt.Fprintln(h, at, "groups")
			for _, c := range g.Columns {
				fmt.Fprintf(h, "%q %q %v\n", c.Name, c.Levels, c.Of)
			}
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
