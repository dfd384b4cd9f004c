package model

import (
	"errors"
	"strings"
	"testing"
)

func TestSampleMemoryIsBounded(t *testing.T) {
	t.Parallel()
	if err := checkSampleMemory(100, 40<<20); err != nil {
		t.Errorf("4 GB of draws: got %v, want no error", err)
	}
	err := checkSampleMemory(1000, 40<<20)
	var samples *SamplesError
	if want := "39.1 GiB of memory, and the limit is 4 GiB; request 102 or fewer"; !errors.As(err, &samples) || !strings.Contains(err.Error(), want) {
		t.Errorf("40 GB of draws: got %v, want a SamplesError with %q", err, want)
	}
}
