// Package columnar reads and writes tables whose columns have types: Parquet, Arrow
// IPC, and columns in memory.
//
// Only the columns asked for are read, one page or record batch at a time. A value of
// a dictionary is made into an id once.
package columnar

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"os"

	"github.com/kernel-fried-tensor/kft/dataset/internal/fingerprint"
	"github.com/kernel-fried-tensor/kft/dataset/internal/magic"
)

// A Table is an open table with typed columns.
type Table interface {
	Names() []string

	// Readable reports whether a column contains plain values, not lists or records.
	Readable(column int) bool

	// Kind returns the type with which a column is written.
	Kind(column int) Kind

	// Start begins to read columns. It is called once, before Next.
	Start(columns []int)

	// Next returns the next rows, or io.EOF. Other errors are of type
	// *dataset.InputError.
	Next() (*Batch, error)

	Close()
}

// BatchRows is the number of rows of a batch, except for the last batch of a row
// group. It is fixed, so that results do not depend on the number of threads.
const BatchRows = 32 << 10

// A Batch is a run of rows.
type Batch struct {
	n       int
	columns [][]Segment // by column of the table; nil if the column is not read
}

// Len returns the number of rows.
func (b *Batch) Len() int { return b.n }

// Fingerprint returns a hash of the values.
func (b *Batch) Fingerprint() [32]byte {
	digest := sha256.New()
	for column, segments := range b.columns {
		for i := range segments {
			digest.Write(binary.AppendVarint(nil, int64(column)))
			segments[i].hash(digest)
			if d := segments[i].dict; d != nil {
				sum := d.fingerprint()
				digest.Write(sum[:])
			}
		}
	}
	return [32]byte(digest.Sum(nil))
}

// hash adds the values to a digest.
func (s *Segment) hash(digest hash.Hash) {
	sum := fingerprint.Sum(s.raw())
	digest.Write(sum[:])
	for i, valid := range s.valid {
		if !valid {
			digest.Write(binary.AppendVarint(nil, int64(i)))
		}
	}
}

// fingerprint returns a hash of the entries, which is computed once.
func (d *dictionary) fingerprint() [32]byte {
	d.hashed.Do(func() {
		digest := sha256.New()
		d.values.hash(digest)
		d.hash = [32]byte(digest.Sum(nil))
	})
	return d.hash
}

// OpenFile opens a Parquet or Arrow file, which it closes together with the table. It
// returns nil, and leaves the file open, if the file has another format.
func OpenFile(name string, file *os.File) (Table, error) {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	var head [magic.Size]byte
	n, _ := file.ReadAt(head[:], 0)
	closeFile := func() { file.Close() }
	var t Table
	switch magic.Columnar(head[:n]) {
	case magic.Parquet:
		t, err = OpenParquet(name, file, info.Size(), closeFile)
	case magic.Arrow:
		t, err = openArrowFile(name, file, info.Size(), closeFile)
	case magic.ArrowStream:
		t, err = OpenArrowStream(name, file, closeFile)
	default:
		return nil, nil
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return t, nil
}
