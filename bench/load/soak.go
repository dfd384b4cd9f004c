package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// judgedSoak is the shortest soak whose memory is judged. In a few seconds the first
// collection of garbage decides how much the heap has grown, not a leak.
const judgedSoak = time.Minute

// counts of a soak.
type counts struct{ valid, failed, bulk, refused, slow, reloads atomic.Int64 }

// soak sends valid requests, large requests, malformed ones and slow ones for some time,
// while the model file is replaced, also by a damaged one. Then it stops the server under
// load. Every valid request must be answered with success until the server closes the
// connection, malformed ones with an error, and memory must not grow over a soak of at
// least judgedSoak.
func (s *server) soak(ctx context.Context, o options, c *cells, out io.Writer) error {
	content, err := os.ReadFile(s.path)
	if err != nil {
		return err
	}
	body, err := c.arrowBody(min(o.rows, 50_000))
	if err != nil {
		return err
	}
	var n counts
	var problem atomic.Pointer[error]
	fail := func(what string, err error) {
		n.failed.Add(1)
		err = fmt.Errorf("%s: %w", what, err)
		problem.CompareAndSwap(nil, &err)
	}
	end, cancel := context.WithCancel(ctx)
	defer cancel()
	var stopping atomic.Bool
	var group sync.WaitGroup
	for client := range o.clients {
		group.Go(func() { s.soakClient(c, uint64(client), &n, &stopping, fail) })
	}
	loop := func(pause time.Duration, work func()) {
		group.Go(func() {
			for !stopping.Load() {
				work()
				select {
				case <-end.Done():
					return
				case <-time.After(pause):
				}
			}
		})
	}
	loop(200*time.Millisecond, func() {
		if _, err := s.bulk(end, "/predict", body); err != nil && end.Err() == nil && !stopping.Load() {
			fail("bulk request", err)
		}
		n.bulk.Add(1)
	})
	loop(50*time.Millisecond, func() {
		if err := s.malformed(&n); err != nil && !stopping.Load() {
			fail("malformed request", err)
		}
	})
	loop(100*time.Millisecond, func() { s.slowClient(end, &n) })
	loop(time.Second, func() {
		file := content
		if n.reloads.Add(1)%4 == 0 {
			file = append([]byte(nil), content...)
			file[len(file)/2] ^= 1 // the old model must go on
		}
		if err := replace(s.path, file); err != nil {
			fail("replace the model", err)
		}
	})
	// The first third is for caches and the heap to grow to their size.
	wait(ctx, o.duration()/3)
	before, _ := s.memory()
	wait(ctx, o.duration()*2/3)
	after, most := s.memory()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	stopping.Store(true)
	ended := <-s.ended
	s.ended <- ended
	cancel()
	group.Wait()
	fmt.Fprintf(out, "soak: %d valid requests, %d bulk, %d malformed, %d slow, %d reloads in %.0f s; %d failed; memory %.0f MiB after a third, %.0f MiB at the end, at most %.0f MiB; end of the server: %v\n",
		n.valid.Load(), n.bulk.Load(), n.refused.Load(), n.slow.Load(), n.reloads.Load(), o.seconds, n.failed.Load(), mib(before), mib(after), mib(most), exit(ended))
	switch {
	case problem.Load() != nil:
		return *problem.Load()
	case ended != nil:
		return fmt.Errorf("the server ended with %w: %s", ended, s.log.String())
	case strings.Contains(s.log.String(), "panic"):
		return fmt.Errorf("the server panicked: %s", s.log.String())
	case o.duration() >= judgedSoak && after > before+before/4+20<<20:
		return fmt.Errorf("memory grew from %.0f to %.0f MiB", mib(before), mib(after))
	}
	return nil
}

func exit(err error) string {
	if err == nil {
		return "in order"
	}
	return err.Error()
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// soakClient sends single predictions until the server stops. It connects again when the
// server closes the connection.
func (s *server) soakClient(c *cells, seed uint64, n *counts, stopping *atomic.Bool, fail func(string, error)) {
	rng := rand.New(rand.NewPCG(3, seed))
	for {
		k, err := dial(s.address)
		if err != nil {
			if !stopping.Load() {
				fail("connect", err)
			}
			return
		}
		for err == nil {
			var status int
			status, err = k.send(request("/predict", c.body(rng)))
			switch {
			case status == http.StatusOK:
				n.valid.Add(1)
			case err != nil && stopping.Load() && !errors.Is(err, io.ErrUnexpectedEOF):
				// The connection was closed before the request arrived.
				k.conn.Close()
				return
			default:
				fail("valid request", fmt.Errorf("status %d, %v", status, err))
				k.conn.Close()
				return
			}
		}
		k.conn.Close() // the server answered and closes
	}
}

var bad = []string{
	"{", "", "[]", `{"cells":[{"store":[]}]}`, `{"cells":1}`, `{"cells":[],"model":"none"}`, `{"cells":[],"quantiles":[5]}`, "\x00\xff", `{"cells":` + strings.Repeat("[", 2000),
}

// malformed sends a request that must be refused.
func (s *server) malformed(n *counts) error {
	k, err := dial(s.address)
	if err != nil {
		return err
	}
	defer k.conn.Close()
	status, err := k.send(request("/predict", []byte(bad[int(n.refused.Add(1))%len(bad)])))
	if err != nil && !errors.Is(err, errClosing) {
		return err
	}
	if status < 400 || status >= 500 {
		return fmt.Errorf("status %d", status)
	}
	return nil
}

// slowClient begins a request and leaves after a while without ending it.
func (s *server) slowClient(ctx context.Context, n *counts) {
	conn, err := net.DialTimeout("tcp", s.address, time.Second)
	if err != nil {
		return // the server stops
	}
	n.slow.Add(1)
	io.WriteString(conn, "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"ce")
	go func() {
		wait(ctx, 3*time.Second)
		conn.Close()
	}()
}

// replace writes a file beside another and renames it.
func replace(path string, content []byte) error {
	if err := os.WriteFile(path+".new", content, 0o666); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
