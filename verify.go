package kft

import (
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/update"
)

// Verify reads a model or a checkpoint completely. It returns what the file is, "model"
// or "checkpoint", and an error if the file is incomplete, was changed, or holds a number
// that no fit writes. A checksum does not tell who wrote a file.
func Verify(path string) (kind string, err error) {
	f, err := modelfile.Read(path)
	if err != nil {
		return "", err
	}
	if kind = f.Meta["kind"]; kind == "checkpoint" {
		return kind, train.VerifyCheckpoint(f, path)
	}
	m, err := model.Decode(f, path)
	if err == nil {
		_, err = update.Replay(m)
	}
	return "model", err
}
