package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/tune"
)

// verifyCommand checks files that kft wrote.
type verifyCommand struct {
	Files []string `arg:"" complete:"file" name:"file" help:"Models, checkpoints and studies."`
	Quiet bool     `short:"q" help:"Print nothing; the exit code is 0 if all files are sound."`
}

// Help is shown by kft verify --help.
func (*verifyCommand) Help() string {
	return `Reads models, checkpoints and studies completely and prints one line per file: whether it is complete and unchanged, and whether every number in it is one that kft can use. The exit code is 1 if a file is not sound. A sound file is not necessarily trustworthy: a checksum does not show who wrote it.

Examples:

    kft verify model.kft
    kft verify checkpoints/checkpoint.kft study.db`
}

// errNotSound is the result of a verification that found a fault, which was printed.
var errNotSound = errors.New("not all files are sound")

// Run verifies each file.
func (c *verifyCommand) Run(e *env) error {
	bad := 0
	for _, file := range c.Files {
		kind, err := verify(e, file)
		line := fmt.Sprintf("%s: sound %s", file, kind)
		if err != nil {
			bad++
			line = fmt.Sprintf("%s: not sound: %s", file, withoutName(err.Error(), file))
		}
		if !c.Quiet {
			if _, err := fmt.Fprintln(e.stdout, line); err != nil {
				return err
			}
		}
	}
	if bad > 0 {
		return fmt.Errorf("%w: %d of %d", errNotSound, bad, len(c.Files))
	}
	return nil
}

// withoutName removes the name of the file from the start of a message about it.
func withoutName(text, file string) string {
	if rest, found := bytes.CutPrefix([]byte(text), []byte(file+": ")); found {
		return string(rest)
	}
	return text
}

// verify returns what a file is, and an error if it is not sound.
func verify(e *env, file string) (kind string, err error) {
	isStudy, err := looksLikeStudy(file)
	if err != nil {
		return "", err
	}
	if !isStudy {
		return kft.Verify(file)
	}
	return "study", verifyStudy(e, file)
}

// looksLikeStudy reports whether a location is a database.
func looksLikeStudy(file string) (bool, error) {
	if tune.IsPostgres(file) {
		return true, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return false, fmt.Errorf("%s: %v", file, cause(err))
	}
	defer f.Close()
	const magic = "SQLite format 3\x00"
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(f, head); err != nil {
		return false, nil // too short: not a study
	}
	return string(head) == magic, nil
}

// verifyStudy reads a study completely.
func verifyStudy(e *env, file string) error {
	store, err := tune.OpenStore(e.ctx, file, readTimeout)
	if err != nil {
		return err
	}
	defer store.Close()
	return tune.Verify(e.ctx, store)
}
