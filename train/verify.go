package train

import (
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/train/checkpoint"
	"github.com/kernel-fried-tensor/kft/update"
)

// Verify reads a model or a checkpoint completely. It returns what the file is, and an
// error if it is incomplete or not what a fit writes.
func Verify(path string) (kind string, err error) {
	f, err := modelfile.Read(path)
	if err != nil {
		return "", err
	}
	if kind = f.Meta["kind"]; kind == "checkpoint" {
		return kind, checkpoint.Verify(f, path)
	}
	m, err := model.Decode(f, path)
	if err == nil {
		_, err = update.Replay(m, path)
	}
	return "model", err
}
