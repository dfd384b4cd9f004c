package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// A server is a process of kft serve.
type server struct {
	cmd        *exec.Cmd
	url        string
	address    string
	dir        string // holds the copy of the model
	path       string // of the copy
	modelBytes int64
	startup    time.Duration
	ended      chan error
	log        bytes.Buffer // standard error; read it after ended
}

// startServer copies the model, starts the program and waits for its first answer.
func startServer(ctx context.Context, program, model string) (*server, error) {
	content, err := os.ReadFile(model)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kft-load")
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, path: filepath.Join(dir, "model.kft"), modelBytes: int64(len(content)), ended: make(chan error, 1)}
	if err := os.WriteFile(s.path, content, 0o666); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s.cmd = exec.CommandContext(ctx, program, "serve", s.path, "--listen", "127.0.0.1:0", "--log-level", "warn")
	s.cmd.Stderr = &s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	go func() {
		io.Copy(io.Discard, lines)
		s.ended <- s.cmd.Wait()
	}()
	s.url = strings.TrimSuffix(strings.TrimSpace(line), "/")
	parsed, parseErr := url.Parse(s.url)
	if err != nil || parseErr != nil || !net.ParseIP(parsed.Hostname()).IsLoopback() {
		err := <-s.ended
		return nil, fmt.Errorf("the server did not start: %v: %s", err, s.log.String())
	}
	s.address = parsed.Host
	if err := s.get(ctx, "/readyz", nil); err != nil {
		s.kill()
		return nil, err
	}
	s.startup = time.Since(begin)
	return s, nil
}

// get requests a path and decodes its JSON.
func (s *server) get(ctx context.Context, path string, value any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: status %d", path, response.StatusCode)
	}
	if value == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(value)
}

// cells has the ids of the modes of the model.
type cells struct {
	model   string
	modes   []string
	columns [][]string // of the modes in a table
	ids     [][]string
	rows    [][]string // ids of cells; nil combines ids at random
}

// read reads cells from a table with the columns of the modes.
func (c *cells) read(path string, rows int) error {
	sample, err := tableio.ReadSample(tableio.Files(path), tableio.Format{}, rows)
	if err != nil {
		return err
	}
	for i, columns := range c.columns {
		for k, name := range columns {
			at := slices.Index(sample.Names, name)
			if at < 0 {
				return fmt.Errorf("%s has no column %s", path, name)
			}
			for r, fields := range sample.Rows {
				if i == 0 && k == 0 {
					c.rows = append(c.rows, make([]string, len(c.modes)))
				}
				if k > 0 {
					c.rows[r][i] += "-"
				}
				c.rows[r][i] += fields[at]
			}
		}
	}
	return nil
}

func (s *server) cells(ctx context.Context) (*cells, error) {
	var list struct {
		Models []struct {
			Model string
			Modes []struct {
				Mode    string
				Columns []string
			}
		}
	}
	if err := s.get(ctx, "/models", &list); err != nil {
		return nil, err
	}
	c := &cells{model: list.Models[0].Model}
	for _, mode := range list.Models[0].Modes {
		var answer struct{ IDs []string }
		if err := s.get(ctx, "/models/"+c.model+"/ids?limit=1000&mode="+url.QueryEscape(mode.Mode), &answer); err != nil {
			return nil, err
		}
		if len(answer.IDs) == 0 {
			return nil, fmt.Errorf("mode %s has no ids", mode.Mode)
		}
		c.modes, c.columns, c.ids = append(c.modes, mode.Mode), append(c.columns, mode.Columns), append(c.ids, answer.IDs)
	}
	return c, nil
}

// random returns a random cell.
func (c *cells) random(rng *rand.Rand) []string {
	if c.rows != nil {
		return c.rows[rng.IntN(len(c.rows))]
	}
	ids := make([]string, len(c.modes))
	for i := range ids {
		ids[i] = c.ids[i][rng.IntN(len(c.ids[i]))]
	}
	return ids
}

// body returns the JSON request of a random cell.
func (c *cells) body(rng *rand.Rand) []byte {
	cell := map[string]string{}
	for i, id := range c.random(rng) {
		cell[c.modes[i]] = id
	}
	text, err := json.Marshal(map[string]any{"cells": []any{cell}})
	if err != nil {
		panic(err) // texts only
	}
	return text
}

// memory returns the memory of the process, and the most it had, in bytes.
func (s *server) memory() (now, most int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, 0
	}
	read := func(field string) int64 {
		_, rest, _ := strings.Cut(string(text), field+":")
		line, _, _ := strings.Cut(rest, "kB")
		n, _ := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		return n << 10
	}
	return read("VmRSS"), read("VmHWM")
}

// cpu returns the processor time of the process.
func (s *server) cpu() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond // a clock tick is 10 ms
}

func (s *server) reportMemory(out io.Writer) {
	now, most := s.memory()
	limit := s.modelBytes*3/2 + 100<<20
	fmt.Fprintf(out, "memory: %.0f MiB, at most %.0f MiB; 1.5 times the model file plus 100 MiB is %.0f MiB\n", mib(now), mib(most), mib(limit))
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

// stop ends the server by a signal. It must end by itself without an error.
func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-s.ended:
		s.ended <- err
		if err != nil {
			return fmt.Errorf("the server ended with %v: %s", err, s.log.String())
		}
		return nil
	case <-time.After(time.Minute):
		return errors.New("the server did not end")
	}
}

// kill ends the server if it still runs, and removes the copy of the model.
func (s *server) kill() {
	select {
	case <-s.ended:
	default:
		s.cmd.Process.Kill()
		<-s.ended
	}
	os.RemoveAll(s.dir)
}
