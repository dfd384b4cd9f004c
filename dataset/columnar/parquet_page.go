package columnar

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go"
)

// parquetDictionary caches the dictionary of a column in a row group.
type parquetDictionary struct {
	column *parquetColumn
	of     parquet.Dictionary
	values *dictionary
}

func (d *parquetDictionary) get(of parquet.Dictionary) (*dictionary, error) {
	if d.of != of {
		s, err := d.column.values(of.Page().Data(), of.Len())
		if err != nil {
			return nil, err
		}
		d.of, d.values = of, &dictionary{values: s}
	}
	return d.values, nil
}

// segment returns the values of a page.
func (c *parquetColumn) segment(page parquet.Page, d *parquetDictionary) (s Segment, err error) {
	n, nulls := int(page.NumValues()), int(page.NumNulls())
	if of := page.Dictionary(); of != nil {
		data := page.Data()
		s = Segment{n: n - nulls, index: data.Int32()}
		if s.dict, err = d.get(of); err != nil {
			return s, err
		}
		if len(s.index) < s.n {
			return s, fmt.Errorf("a page of %d values contains %d", n-nulls, len(s.index))
		}
		if s.index = s.index[:s.n]; s.n == 0 {
			s.index = []int32{} // a page of nulls has no values but is still indexed
		}
		if !allWithin(s.index, int32(s.dict.values.n)) {
			return s, errors.New("a value is not in the dictionary")
		}
	} else if s, err = c.values(page.Data(), n-nulls); err != nil {
		return s, err
	}
	if nulls == 0 {
		return s, nil
	}
	present := make([]bool, n)
	found := 0
	for i, level := range page.DefinitionLevels() {
		if level > 0 {
			present[i] = true
			found++
		}
	}
	if found != s.n {
		return s, fmt.Errorf("a page states %d nulls and contains %d", nulls, n-found)
	}
	return s.spread(present), nil
}

// allWithin reports whether all indexes are in [0, n). It checks two at a time: v and
// n-1-v must have no sign bit. If the lower half borrows from the upper half, the
// lower sign bit is set too.
func allWithin(indexes []int32, n int32) bool {
	const signs = 1<<63 | 1<<31
	last := uint64(uint32(n - 1))
	limits := last<<32 | last
	wrong := uint64(0)
	memory := bytesOf(indexes)
	for ; len(memory) >= 16; memory = memory[16:] {
		v, w := binary.LittleEndian.Uint64(memory), binary.LittleEndian.Uint64(memory[8:])
		wrong |= v | (limits - v) | w | (limits - w)
	}
	for _, v := range indexes[len(indexes)&^3:] {
		wrong |= uint64(uint32(v | (n - 1 - v)))
	}
	return wrong&signs == 0
}
