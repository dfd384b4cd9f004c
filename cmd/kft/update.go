package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
)

// updateCommand takes rows into a model.
type updateCommand struct {
	Model  string `arg:"" complete:"file" help:"Model file."`
	Table  string `arg:"" optional:"" complete:"file" help:"Table with new rows and the target: CSV or TSV, plain, gzip or zstd, Parquet or Arrow; - is standard input. It may be left out with --remove."`
	Output string `short:"o" placeholder:"FILE" complete:"file" help:"Model file to write (default: replace MODEL)."`
	Remove string `placeholder:"TABLE" complete:"file" help:"Table with rows to remove, from the fit or from updates, with their values. A correction removes the old row and adds the new one."`
	Late   bool   `help:"Accept rows of periods before the last one of the model. Without it they are refused, because they may be in the model already. Implied by --remove."`
	JSON   bool   `name:"json" help:"Print one JSON object."`
	Quiet  bool   `short:"q" help:"Print no report; warnings stay on standard error."`
	tableFlags
}

// Help is shown by kft update --help.
func (*updateCommand) Help() string {
	return `Updates a model with a posterior (--inference mean-field) with new rows, without training it again and without the old rows. The weights of the ids in the new rows (known or new), the curves of numeric covariates and the series change; the rest of the model stays as it is. The result does not depend on the order of rows or on the number of updates. The report says how much the weights of ids changed, and whether the rows differ so much from the predictions that a new fit is recommended. All rows are added, or none: if a row is refused, the model file stays as it was.

Examples:

    kft update model.kft next-month.csv
    kft update model.kft new-items.csv --side item=items.csv -o updated.kft
    kft update model.kft corrected.csv --remove wrong.csv`
}

// Run takes in the rows.
func (c *updateCommand) Run(e *env) error {
	var tables []string
	for _, t := range []string{c.Remove, c.Table} {
		if t != "" {
			tables = append(tables, t)
		}
	}
	if len(tables) == 0 {
		return usagef("name a table with new rows, or one with rows to remove (--remove)")
	}
	var err error
	if c.Output, err = c.changedModel(c.Model, c.Output, tables); err != nil {
		return err
	}
	sides := c.Side
	c.Side = nil // they belong to the fitted model
	m, opt, err := c.openWhole(e, c.Model)
	if err != nil {
		return err
	}
	u, err := m.NewUpdater(c.Threads)
	if err != nil {
		return err
	}
	if len(sides) > 0 {
		if err := u.WithSide(e.ctx, sides, map[string]kft.Source{"-": kft.Reader("standard input", e.stdin)}); err != nil {
			return err
		}
	}
	var removed, added *kft.UpdateReport
	if c.Remove != "" {
		if removed, err = u.TakeTable(e.ctx, kft.Files(c.Remove), opt, kft.UpdateOptions{Remove: true}); err != nil {
			return err
		}
	}
	if c.Table != "" {
		if added, err = u.TakeTable(e.ctx, kft.Files(c.Table), opt, kft.UpdateOptions{Late: c.Late || c.Remove != ""}); err != nil {
			return err
		}
	}
	updated, err := u.Model()
	if err != nil {
		return err
	}
	if err := updated.Save(c.Output); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.stdout, updateResult(c.Output, removed, added))
	}
	warning := ""
	if added != nil && c.Table != "-" && added.Rows >= added.Trained { // fewer rows are not the table of the fit
		if _, err := m.ReadFitted(e.ctx, kft.Files(c.Table), opt); err == nil {
			warning = fmt.Sprintf("warning: %s is the table of the fit: the model now has the rows of its training set twice, so intervals are too narrow; update it with rows that the fit has not used\n", c.Table)
		}
	}
	if c.Quiet {
		_, err := io.WriteString(e.stderr, warning)
		return err
	}
	var b strings.Builder
	if removed != nil {
		fmt.Fprintf(&b, "Removed %s%s.\n", textformat.Plural(removed.Removed, "row"), struck(removed))
	}
	report := removed
	if added != nil {
		report = added
		fmt.Fprintf(&b, "Updated with %s%s%s.\n", textformat.Plural(added.Rows, "row"), newIDs(added), skipped(added))
	}
	if report.Repeated > 0 {
		fmt.Fprintf(&b, "The model was updated with %s of these before, with the same values, so they now count twice; --remove removes rows again.\n", textformat.Count(report.Repeated))
	}
	b.WriteString(warning)
	writeMoved(&b, report)
	if added != nil && added.Rows > 0 {
		fmt.Fprintf(&b, "Errors of these rows before the update, in predicted standard deviations: mean %+.2f (expected 0), RMS %.2f (expected 1). The offset, which an update does not change, would have changed by %.1f sd.\n", added.Drift.Mean, added.Drift.RMS, abs(added.Drift.Rest))
	}
	fmt.Fprintf(&b, "Wrote %s: %s added since the fit to %s.\n", c.Output, textformat.Plural(report.Taken, "row"), textformat.Plural(report.Trained, "row"))
	for _, reason := range report.Reasons {
		fmt.Fprintf(&b, "A new fit is recommended: %s.\n", reason)
	}
	_, err = io.WriteString(e.stdout, b.String())
	return err
}

// updateResult is the report as JSON.
func updateResult(output string, removed, added *kft.UpdateReport) map[string]any {
	out := map[string]any{"model": output}
	if removed != nil {
		out["remove"] = removed
	}
	if added != nil {
		out["add"] = added
	}
	return out
}

func struck(r *kft.UpdateReport) string {
	if r.Struck == 0 {
		return ""
	}
	return fmt.Sprintf(", %s of them added after the fit", textformat.Count(r.Struck))
}

func newIDs(r *kft.UpdateReport) string {
	var parts []string
	for _, n := range r.New {
		parts = append(parts, fmt.Sprintf("%s %s", textformat.Count(n.IDs), n.Mode))
	}
	if parts == nil {
		return ""
	}
	return "; new: " + strings.Join(parts, ", ")
}

func skipped(r *kft.UpdateReport) string {
	if r.Skipped == 0 {
		return ""
	}
	return fmt.Sprintf("; %s without a value or an id left out", textformat.Plural(r.Skipped, "row"))
}

// writeMoved writes how far the entities moved.
func writeMoved(w *strings.Builder, r *kft.UpdateReport) {
	if len(r.Moved) == 0 {
		return
	}
	t := textformat.Table{Header: []string{"changed", "core", "ids", "new", "sd (RMS)", "largest"}}
	for _, m := range r.Moved {
		core := m.Core
		if core == m.Term {
			core = ""
		}
		t.Rows = append(t.Rows, []string{m.Term, core, textformat.Count(m.Entities), textformat.Count(m.New), fmt.Sprintf("%.2f", m.RMS), fmt.Sprintf("%.2f", m.Largest)})
	}
	t.Write(w)
}

func abs(v float64) float64 { return max(v, -v) }
