package mpi_test

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
	"github.com/kernel-fried-tensor/kft/backend/mpi"
)

func TestAgreement(t *testing.T) {
	t.Parallel()
	backendtest.OnRanks(3, func(r backend.Ranks) {
		check := func(what string, err error, want string) {
			got := ""
			if err != nil {
				got = err.Error()
			}
			if want == "" && got != "" || !strings.Contains(got, want) {
				t.Errorf("rank %d: %s: got %q, want %q", r.Rank(), what, got, want)
			}
		}
		one := func(rank int, err error) error {
			if r.Rank() == rank {
				return err
			}
			return nil
		}
		same := errors.New("no such file")
		check("no error", mpi.AgreeErrors(r, nil), "")
		check("an error of rank 2", mpi.AgreeErrors(r, one(2, same)), "rank 2 of 3 on "+mpi.Hostname()+": no such file")
		if err := mpi.AgreeErrors(r, same); err != same {
			t.Errorf("rank %d: an error of all ranks: got %v", r.Rank(), err)
		}
		check("a long error", mpi.AgreeErrors(r, one(0, errors.New(strings.Repeat("x", 5000)))), strings.Repeat("x", 1000))
		check("the same value", mpi.AgreeSame(r, "the table", []byte("a")), "")
		check("another value", mpi.AgreeSame(r, "the table", []byte{byte(r.Rank() / 2)}), "rank 2 of 3 on "+mpi.Hostname()+": the table differs from that of rank 0")
	})
}

// Ranks that leave in order are not reported; a rank that hangs or ends is.
func TestWatch(t *testing.T) {
	t.Parallel()
	const size = 3
	lost := make(chan *mpi.RankError, size)
	backendtest.OnRanks(size, func(r backend.Ranks) {
		w, err := mpi.StartWatch(r, time.Minute, func(e *mpi.RankError) { lost <- e })
		if err != nil {
			t.Errorf("rank %d: %v", r.Rank(), err)
			return
		}
		w.Stop()
	})
	select {
	case e := <-lost:
		t.Errorf("all ranks left in order: got %v", e)
	default:
	}
}

// A stranger that connects does not take the place of a rank.
func TestWatchIgnoresStrangers(t *testing.T) {
	t.Parallel()
	lost := make(chan *mpi.RankError, 2)
	backendtest.OnRanks(2, func(r backend.Ranks) {
		texts := &eavesdropper{Ranks: r, heard: func(text string) {
			fields := strings.Fields(text)
			if r.Rank() == 1 && len(fields) == 2 && len(fields[0]) == 32 {
				if c, err := net.Dial("tcp", fields[1]); err == nil {
					c.Write(make([]byte, 20))
				}
			}
		}}
		w, err := mpi.StartWatch(texts, time.Minute, func(e *mpi.RankError) { lost <- e })
		if err != nil {
			t.Errorf("rank %d: %v", r.Rank(), err)
			return
		}
		w.Stop()
	})
	if len(lost) > 0 {
		t.Errorf("got %v", <-lost)
	}
}

// eavesdropper hears the text that rank 0 sends to all.
type eavesdropper struct {
	backend.Ranks
	heard func(text string)
}

func (e *eavesdropper) Gather(data []byte, bounds []int) {
	e.Ranks.Gather(data, bounds)
	e.heard(strings.TrimRight(string(data[:bounds[1]]), "\x00"))
}
