package experiment

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// A splitRecord identifies the input from which a split file was made.
type splitRecord struct {
	Split      string `json:"split"`
	Seed       uint64 `json:"seed"`
	Definition string `json:"definition"`
	Parts      string `json:"parts"` // hash of the file's content
}

// writeSplits writes the missing split files. All are written before any fit, so
// that other programs can use them.
func (r *run) writeSplits(ctx context.Context) error {
	for n := 1; n <= len(r.Splits); n++ {
		parts, err := r.writeSplit(ctx, n)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("split %d: %w", n, err)
		}
		r.partHashes = append(r.partHashes, parts)
	}
	return nil
}

// writeSplit writes the file of split n, unless it exists and was made from the same
// table and split. It returns the hash of its parts.
func (r *run) writeSplit(ctx context.Context, n int) (parts string, err error) {
	s, data := r.Splits[n-1], r.Configurations[0].Spec.Data
	record := splitRecord{Split: s.Split, Seed: s.Seed}
	if record.Definition, err = r.splitDefinition(s); err != nil {
		return "", err
	}
	file := r.Output.SplitFile(n)
	recordFile := filepath.Join(filepath.Dir(file), strconv.Itoa(n)+".json")
	var old splitRecord
	recorded := readJSON(recordFile, &old) == nil
	before, err := hashGzip(file) // "" if the file cannot be read
	intact := err == nil && (old.Parts == "" || old.Parts == before)
	if intact && recorded && old.Definition == record.Definition {
		return before, nil
	}
	if err := r.Runner.Split(ctx, data, s, file); err != nil {
		return "", err
	}
	if record.Parts, err = hashGzip(file); err != nil {
		return "", err
	}
	if err := writeJSON(recordFile, record); err != nil {
		return "", err
	}
	if before != "" && before != record.Parts {
		r.Progress(fmt.Sprintf("split %d: the file had other parts and was written again; results of other programs on the old parts can no longer be compared", n))
	}
	return record.Parts, nil
}

// splitDefinition hashes everything that a split depends on.
func (r *run) splitDefinition(s Split) (string, error) {
	data := r.Configurations[0].Spec.Data
	table, err := r.hashFiles(data.Files)
	if err != nil {
		return "", err
	}
	inputs := []string{s.Split, strconv.FormatUint(s.Seed, 10), table, fmt.Sprintf("%+v", data)}
	if name, isFile := strings.CutPrefix(s.Split, "file:"); isFile {
		hash, err := r.hashFile(name)
		if err != nil {
			return "", err
		}
		inputs = append(inputs, hash)
	}
	return hashTexts(inputs...), nil
}
