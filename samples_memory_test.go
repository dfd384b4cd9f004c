package kft

import (
	"strings"
	"testing"
)

// Draws that would not fit into memory are refused with how many would.
func TestSamplesAreBounded(t *testing.T) {
	if err := checkSampleMemory(100, 40<<20); err != nil {
		t.Errorf("4 GB: %v", err)
	}
	err := checkSampleMemory(1000, 40<<20)
	if want := "1000 draws of this model would take 39.1 GiB of memory, and 4 GiB is the limit; ask for 102 or fewer"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("40 GB: %v", err)
	}
}
