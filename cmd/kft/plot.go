package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/metrics"
)

// plotCommand draws.
type plotCommand struct {
	Calibration plotCalibrationCommand `cmd:"" help:"Draw how often values lie inside their intervals, by an id and time."`
	Study       plotStudyCommand       `cmd:"" help:"Draw the trials of a study and what mattered."`
}

// plotCalibrationCommand draws heat maps of the calibration rate.
type plotCalibrationCommand struct {
	Model  string   `arg:"" complete:"file" help:"The model file."`
	Tables []string `arg:"" name:"table" complete:"file" help:"A table with the target; - is standard input. Several only with --part."`
	By     string   `required:"" placeholder:"MODE" help:"The mode whose ids are the rows of the map."`
	Time   string   `placeholder:"MODE" help:"The mode whose ids are its columns (default: the last one)."`
	Part   string   `placeholder:"PART" values:"train,valid,test" help:"Only the rows that were train, valid or test in the fit; the table must be the one it was fitted to."`
	Output string   `short:"o" default:"calibration" placeholder:"PREFIX" complete:"file" help:"How the files' names begin (default: calibration)."`
	Quiet  bool     `short:"q" help:"Say nothing."`
	tableFlags
}

// Help is shown by kft plot calibration --help.
func (*plotCalibrationCommand) Help() string {
	return `Draws, for intervals of 90, 70, 50, 30 and 10 %, the share of values that lie inside, by an id and a time, as a PNG and an SVG each: calibration-90.png and so on. Where intervals hold what they promise the map has the colour in the middle of its scale everywhere, but for chance; a row or a column of another colour is an id or a time that the model is too sure of, or not sure enough.

Example:

    kft plot calibration model.kft sales.csv --by store --part test -o store`
}

// Run counts and draws.
func (c *plotCalibrationCommand) Run(e *env) error {
	part, err := parsePart(c.Part, c.Tables)
	if err != nil {
		return err
	}
	inputs, err := c.inputs(append(c.Tables, c.Model)...)
	if err != nil {
		return err
	}
	for _, file := range c.files() {
		if err := checkTarget(file, inputs); err != nil {
			return err
		}
	}
	m, table, err := c.open(e, c.Model)
	if err != nil {
		return err
	}
	opt := kft.MapOptions{TableOptions: table, Rows: c.By, Columns: c.Time, Part: part}
	heat, err := m.Map(e.ctx, kft.Files(c.Tables...), opt)
	var wrong *kft.ModeError
	if errors.As(err, &wrong) {
		flag := "--by"
		if wrong.Mode != c.By {
			flag = "--time"
		}
		return usagef("%s: %v", flag, err)
	}
	if err != nil {
		return err
	}
	return c.draw(e, heat)
}

// draw writes a PNG and an SVG for each level.
func (c *plotCalibrationCommand) draw(e *env, heat *kft.CoverageMap) error {
	for i, file := range c.files() {
		level, draw := i/2, heat.WritePNG
		if i%2 == 1 {
			draw = heat.WriteSVG
		}
		if err := atomicfile.Write(file, func(w io.Writer) error { return draw(w, level, heat.Labels) }); err != nil {
			return err
		}
	}
	if c.Quiet {
		return nil
	}
	_, err := fmt.Fprintf(e.stdout, "%s by %s and %s: wrote %s\n", plural(heat.N, "value"), heat.Labels.RowMode, heat.Labels.ColumnMode, strings.Join(c.files(), ", "))
	return err
}

// files names what is written, by level, as PNG and as SVG.
func (c *plotCalibrationCommand) files() []string {
	var files []string
	for _, level := range metrics.IntervalLevels {
		for _, extension := range []string{"png", "svg"} {
			files = append(files, fmt.Sprintf("%s-%.0f.%s", c.Output, math.Round(100*level), extension))
		}
	}
	return files
}

// parsePart reads --part, Unused where it is not given.
func parsePart(text string, tables []string) (dataset.Part, error) {
	part, known := map[string]dataset.Part{"": dataset.Unused, "train": dataset.Train, "valid": dataset.Valid, "test": dataset.Test}[text]
	switch {
	case !known:
		return part, usagef("--part: %q is not a part%s; write train, valid or test", text, suggest.Hint(text, []string{"train", "valid", "test"}))
	case text == "" && len(tables) > 1:
		return part, usagef("one table at a time; several are read as one only with --part")
	}
	return part, nil
}
