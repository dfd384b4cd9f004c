package cpu_test

import (
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
)

func TestConformance(t *testing.T) {
	for _, path := range cpu.Paths() {
		t.Run(string(path), func(t *testing.T) {
			backendtest.Run(t, func(threads int) backend.Backend { return cpu.New(path, threads) })
		})
	}
}
