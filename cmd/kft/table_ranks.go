package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/backend/mpi"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// tableShare divides the chunks of a table over ranks, in turn. Rank 0 receives and writes
// them in order. It implements tableio.Share.
type tableShare struct {
	r     *ranks
	ended []bool // on rank 0: ranks that sent their last message
}

// Kinds of messages to rank 0, which answers each chunk with goOn or stop.
const (
	chunkMessage = iota
	endMessage
	failMessage

	goOn = 0
	stop = 1
)

// errStopped is the error of a rank that rank 0 stopped, because another one failed.
var errStopped = errors.New("stopped by rank 0")

func (s *tableShare) Writes() bool { return s.r.Rank() == 0 }

func (s *tableShare) Mine(chunk int) bool { return chunk%s.r.Size() == s.r.Rank() }

func (s *tableShare) Pass(chunk int, text []byte) ([]byte, error) {
	owner := chunk % s.r.Size()
	switch {
	case s.r.Rank() > 0 && s.Mine(chunk):
		s.send(chunkMessage, text)
		answer := make([]byte, 1)
		if s.r.Receive(answer, 0); answer[0] == stop {
			return nil, errStopped
		}
		return nil, nil
	case s.r.Rank() > 0 || owner == 0:
		return text, nil
	}
	kind, data := s.receive(owner)
	switch kind {
	case chunkMessage:
		s.r.Send([]byte{goOn}, owner)
		return data, nil
	case failMessage:
		return nil, errors.New(string(data))
	}
	return nil, s.other(owner)
}

// other is the error of a rank whose table has another length.
func (s *tableShare) other(rank int) error {
	return fmt.Errorf("the table of rank %d differs from that of rank 0", rank)
}

func (s *tableShare) Total(part []byte, err error) ([][]byte, error) {
	if s.r.Rank() > 0 {
		if err == nil {
			s.send(endMessage, part)
		} else {
			s.send(failMessage, []byte(err.Error()))
		}
		return nil, s.agree(nil)
	}
	parts := [][]byte{part}
	for rank := 1; rank < s.r.Size(); rank++ {
		for !s.ended[rank] {
			kind, data := s.receive(rank)
			switch {
			case kind == chunkMessage: // after an error
				s.r.Send([]byte{stop}, rank)
				if err == nil {
					err = s.other(rank)
				}
			case kind == endMessage:
				parts = append(parts, data)
			case err == nil:
				err = errors.New(string(data))
			}
		}
	}
	return parts, s.agree(err)
}

// agree gives the error of rank 0 to all.
func (s *tableShare) agree(err error) error {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text = mpi.Texts(s.r, text)[0]; text == "" {
		return nil
	}
	if err == nil {
		err = errors.New(text)
	}
	return &agreedError{err}
}

func (s *tableShare) send(kind byte, data []byte) {
	s.r.Send(binary.LittleEndian.AppendUint64([]byte{kind}, uint64(len(data))), 0)
	s.r.Send(data, 0)
}

func (s *tableShare) receive(rank int) (kind byte, data []byte) {
	head := make([]byte, 9)
	s.r.Receive(head, rank)
	data = make([]byte, binary.LittleEndian.Uint64(head[1:]))
	s.r.Receive(data, rank)
	s.ended[rank] = head[0] != chunkMessage
	return head[0], data
}

// shareTable returns the division of a table over the processes, which must have the same model and tables;
// nil for one process.
func (e *env) shareTable(m *kft.Model, model string, tables []string) (tableio.Share, error) {
	if e.ranks == nil {
		return nil, nil
	}
	var content, table []byte
	var err error
	switch {
	case len(m.Targets()) > 0:
		err = usagef("a model of several targets needs one process; leave out mpirun")
	case slices.Contains(tables, "-"):
		err = usagef("standard input (-) reaches rank 0 only; save the table to a file that all ranks can read")
	default:
		content, err = os.ReadFile(model)
		for _, name := range tables {
			if err == nil {
				var one []byte
				one, err = probe(name)
				table = append(table, one...)
			}
		}
	}
	if err := e.agree(err); err != nil {
		return nil, err
	}
	if err := mpi.AgreeSame(e.ranks, "the model", content); err != nil {
		return nil, err
	}
	if err := mpi.AgreeSame(e.ranks, "the table", table); err != nil {
		return nil, err
	}
	return &tableShare{r: e.ranks, ended: make([]bool, e.ranks.Size())}, nil
}

// threads returns the number of threads of this process.
func (e *env) threads(asked int) int {
	if e.ranks == nil {
		return asked
	}
	return e.ranks.threads(asked)
}

// probe returns the size of a file and some of its content.
func probe(file string) ([]byte, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file; check the path", file)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	const places, length = 64, 4096
	out := binary.LittleEndian.AppendUint64(nil, uint64(info.Size()))
	for i := range places {
		piece := make([]byte, length)
		n, err := f.ReadAt(piece, info.Size()*int64(i)/places)
		if err != nil && err != io.EOF {
			return nil, err
		}
		out = append(out, piece[:n]...)
	}
	return out, nil
}
