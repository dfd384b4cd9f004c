package delimited

import (
	"bytes"
	"io"
	"sync"
)

// Reading a file copies it from the cache of the operating system, at some GB/s per core: less than
// several cores parse. So several goroutines read blocks ahead of the one that finds where their
// records end.

// carryRoom is the room before a block for the start of its first record.
const carryRoom = 4 << 10

// An aheadBlock is a block as it is in the file.
type aheadBlock struct {
	buf    []byte // the text starts at carryRoom
	n      int
	err    error
	quoted bool // there is a quote

	free  chan []byte   // has the memory for the next block
	ready chan struct{} // has a value when the block has been read
}

func (s *aheadBlock) text() []byte { return s.buf[carryRoom:][:s.n] }

// read reads size bytes from a position of a file into memory, which it may replace.
func (s *aheadBlock) read(file io.ReaderAt, at int64, size int, memory []byte) {
	if need := carryRoom + size + 2*padding; cap(memory) < need {
		memory = make([]byte, need)
	}
	s.buf = memory[:carryRoom+size]
	s.n, s.err = file.ReadAt(s.buf[carryRoom:], at)
	if s.n == size {
		s.err = nil
	}
	s.quoted = bytes.IndexByte(s.text(), '"') >= 0
}

// ahead reads the blocks of a file ahead.
type ahead struct {
	blocks []aheadBlock // block number i is blocks[i % len(blocks)]
	number int          // of the next block
	stop   chan struct{}
	group  sync.WaitGroup
}

// ReadAhead makes Next and Take read on several goroutines, if the input is the given regular file and not compressed. It must be called
// after ReadLayout and Restrict. The blocks are the same.
func (b *Blocks) ReadAhead(file io.ReaderAt, readers int) {
	if in, ok := b.in.(io.ReaderAt); !ok || in != file || b.codec != "" || b.eof || readers < 1 {
		return
	}
	a := &ahead{blocks: make([]aheadBlock, 2*readers), stop: make(chan struct{})}
	for i := range a.blocks {
		a.blocks[i].free, a.blocks[i].ready = make(chan []byte, 1), make(chan struct{}, 1)
		a.blocks[i].free <- nil
	}
	start, size := b.read, b.size
	for r := range readers {
		a.group.Go(func() {
			for i := r; ; i += readers {
				block := &a.blocks[i%len(a.blocks)]
				select {
				case memory := <-block.free:
					block.read(file, start+int64(i)*int64(size), size, memory)
				case <-a.stop:
					return
				}
				ended := block.err != nil
				block.ready <- struct{}{}
				if ended {
					return
				}
			}
		})
	}
	b.ahead = a
}

// next returns the next block, whose memory is the caller's from then on, and takes memory for a later one.
func (a *ahead) next(memory []byte) *aheadBlock {
	block := &a.blocks[a.number%len(a.blocks)]
	a.number++
	<-block.ready
	result := &aheadBlock{buf: block.buf, n: block.n, err: block.err, quoted: block.quoted}
	block.free <- memory
	return result
}

// take returns the next block, its memory with the carry before it, and where the carry starts.
func (a *ahead) take(memory, carry []byte) (block *aheadBlock, buf []byte, from int) {
	block = a.next(memory)
	if len(carry) > carryRoom {
		return block, append(append(make([]byte, 0, len(carry)+block.n+2*padding), carry...), block.text()...), 0
	}
	from = carryRoom - len(carry)
	copy(block.buf[from:], carry)
	return block, block.buf[:carryRoom+block.n], from
}

// close ends the goroutines.
func (a *ahead) close() {
	close(a.stop)
	a.group.Wait()
}
