package kft_test

import (
	"bytes"
	"crypto/sha256"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/train/checkpoint"
)

// withChecksum returns the bytes of a file with the checksum that belongs to them.
func withChecksum(data []byte) []byte {
	if len(data) < sha256.Size {
		return data
	}
	body := data[:len(data)-sha256.Size]
	sum := sha256.Sum256(body)
	return slices.Concat(body, sum[:])
}

// FuzzLoad loads changed models with a right checksum and predicts with those that are
// accepted.
func FuzzLoad(f *testing.F) {
	models := attackModels(f)
	for _, name := range slices.Sorted(maps.Keys(models)) {
		f.Add(models[name])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := kft.ReadModel(bytes.NewReader(withChecksum(data)))
		if err != nil {
			return
		}
		if problem := useModel(t, m); problem != "" {
			t.Error(problem)
		}
	})
}

// FuzzCheckpoint verifies changed checkpoints with a right checksum.
func FuzzCheckpoint(f *testing.F) {
	s := newShop(f, 5, 6, nil)
	folder := f.TempDir()
	fit(f, s.plainSpec(), kft.Options{Checkpoint: folder})
	f.Add([]byte(readFile(f, filepath.Join(folder, "checkpoint.kft"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := modelfile.Decode(withChecksum(data), "fuzzed")
		if err == nil {
			_ = checkpoint.Verify(file, "fuzzed")
		}
	})
}
