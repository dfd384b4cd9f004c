package cpu_test

import (
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	var paths []backendtest.Open
	for _, path := range cpu.Paths() {
		paths = append(paths, func(threads int) backend.Backend { return cpu.New(path, threads) })
	}
	backendtest.Run(t, paths...)
}

func TestRanksGiveSameBits(t *testing.T) {
	t.Parallel()
	backendtest.RunRanks(t, func(ranks backend.Ranks) backend.Backend { return cpu.New(cpu.Paths()[0], 2).OnRanks(ranks) })
}
