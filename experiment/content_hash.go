package experiment

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/kernel-fried-tensor/kft/spec"
)

// definition hashes everything that a fit on split n depends on: the specification,
// the content of its tables, the parts of the split, and more.
func (r *run) definition(s spec.Spec, n int, more ...string) (string, error) {
	content, err := r.tableHash(s)
	if err != nil {
		return "", err
	}
	s.Split = "random:60/20/20" // the name of the split does not matter, its parts do
	return "sha256 " + hashTexts(append(more, string(s.JSON()), content, r.partHashes[n-1])...), nil
}

// tableHash hashes the content of the tables of a specification.
func (r *run) tableHash(s spec.Spec) (string, error) {
	tables, err := s.SideTables()
	if err != nil {
		return "", err
	}
	files := slices.Clone(s.Data.Files)
	for _, t := range tables {
		if t.File != "" {
			files = append(files, t.File)
		}
	}
	return r.hashFiles(files)
}

func (r *run) hashFiles(files []string) (string, error) {
	var hashes []string
	for _, f := range files {
		h, err := r.hashFile(f)
		if err != nil {
			return "", err
		}
		hashes = append(hashes, h)
	}
	return hashTexts(hashes...), nil
}

// hashFile reads each file once per run.
func (r *run) hashFile(name string) (string, error) {
	if h, known := r.fileHashes[name]; known {
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
	r.fileHashes[name] = hex.EncodeToString(sum.Sum(nil))
	return r.fileHashes[name], nil
}

// hashGzip hashes the uncompressed content of a gzip file, because the same text has
// many compressed forms.
func hashGzip(file string) (string, error) {
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

// hashTexts hashes texts with their lengths, so that moving a boundary between two
// texts changes the hash.
func hashTexts(texts ...string) string {
	sum := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(sum, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
