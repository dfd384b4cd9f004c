package experiment

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
	"github.com/kernel-fried-tensor/kft/spec"
)

// splitRecord says what a split file was made of.
type splitRecord struct {
	Split      string `json:"split"`
	Seed       uint64 `json:"seed"`
	Definition string `json:"definition"`
	Parts      string `json:"parts"` // the hash of what was written
}

// split writes the split files that are not there, all before anything else, so
// that other programs can work on them.
func (w *work) split(ctx context.Context) error {
	data := w.Configurations[0].Spec.Data
	table, err := w.hashFiles(data.Files)
	if err != nil {
		return err
	}
	for i, s := range w.Splits {
		what := []string{s.Split, strconv.FormatUint(s.Seed, 10), table, fmt.Sprintf("%+v", data)}
		if name, isFile := strings.CutPrefix(s.Split, "file:"); isFile {
			hash, err := w.hashFile(name)
			if err != nil {
				return fmt.Errorf("split %d: %w", i+1, err)
			}
			what = append(what, hash)
		}
		record := splitRecord{Split: s.Split, Seed: s.Seed, Definition: hash(what...)}
		file := w.Output.SplitFile(i + 1)
		recordFile := filepath.Join(filepath.Dir(file), strconv.Itoa(i+1)+".json")
		var old splitRecord
		recorded := readJSON(recordFile, &old) == nil
		parts, err := hashText(file)
		damaged := err != nil || old.Parts != "" && old.Parts != parts
		if damaged || !recorded || old.Definition != record.Definition {
			before := parts // "" where there is none that can be read
			if err := w.Runner.Split(ctx, data, s, file); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				return fmt.Errorf("split %d: %w", i+1, err)
			}
			if parts, err = hashText(file); err != nil {
				return fmt.Errorf("split %d: %w", i+1, err)
			}
			record.Parts = parts
			if err := writeJSON(recordFile, record); err != nil {
				return err
			}
			if before != "" && before != parts {
				w.Say(fmt.Sprintf("split %d: it was another one: written again; what other programs did on the old one no longer compares", i+1))
			}
		}
		w.parts = append(w.parts, parts)
	}
	return nil
}

// definition condenses all that a fit depends on: the specification, what is in the
// tables it names and the parts of the split; more is what else counts.
func (w *work) definition(spec spec.Spec, n int, more ...string) (string, error) {
	content, err := w.content(spec)
	if err != nil {
		return "", err
	}
	spec.Split = "random:60/20/20" // its name does not matter, its parts do
	return "sha256 " + hash(append(more, string(spec.JSON()), content, w.parts[n-1])...), nil
}

// content is the hash of what is in the tables of a specification.
func (w *work) content(spec spec.Spec) (string, error) {
	tables, err := spec.SideTables()
	if err != nil {
		return "", err
	}
	files := slices.Clone(spec.Data.Files)
	for _, t := range tables {
		if t.File != "" {
			files = append(files, t.File)
		}
	}
	return w.hashFiles(files)
}

func (w *work) hashFiles(files []string) (string, error) {
	var all []string
	for _, f := range files {
		h, err := w.hashFile(f)
		if err != nil {
			return "", err
		}
		all = append(all, h)
	}
	return hash(all...), nil
}

// hashFile reads a file once a run.
func (w *work) hashFile(name string) (string, error) {
	if h, known := w.files[name]; known {
		return h, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	w.files[name] = hex.EncodeToString(sum.Sum(nil))
	return w.files[name], nil
}

// hashText is the hash of what is in a gzip file: the same text can be compressed
// in many ways.
func hashText(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, text); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// hash condenses texts; where one ends matters.
func hash(texts ...string) string {
	sum := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(sum, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func writeText(file string, text []byte) error {
	return atomicfile.Write(file, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

func valuesText(values map[string]string) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		texts = append(texts, name+"="+values[name])
	}
	if len(texts) == 0 {
		return "nothing varies"
	}
	return strings.Join(texts, " ")
}
