package kft

import "github.com/kernel-fried-tensor/kft/train"

// Verify reads a model or a checkpoint completely. It returns what the file is, "model"
// or "checkpoint", and an error if the file is incomplete, was changed, or holds a number
// that no fit writes. A checksum does not tell who wrote a file.
func Verify(path string) (kind string, err error) {
	return train.Verify(path)
}
