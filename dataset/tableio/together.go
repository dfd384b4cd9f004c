package tableio

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"os"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/columnar"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/internal/magic"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// Several processes can read one table together: each parses some of its units, and all get all
// rows, or each keeps its own. The units of a plain text are its blocks, those of a Parquet file
// its row groups; other files are one unit each. Blocks and row groups have the borders of one
// process, and ids are numbered in the order of the parts, so the table is the same.
//
// Whatever is unusual (an error, line ends within quotes at a border, files that differ) makes all
// processes read the whole table. Then they behave as one process does.

// inputPart is a run of units of an input.
type inputPart struct {
	from, to, of int
	text         bool
}

var errIndivisible = errors.New("tableio: the input cannot be divided")

// restrict limits an open input to a part.
func (c *content) restrict(part *inputPart) bool {
	if c.typed != nil {
		return !part.text && columnar.Restrict(c.typed, part.from, part.to)
	}
	to := part.to
	if to == part.of {
		to = 0 // up to the end
	}
	return part.text && c.file != nil && c.text.Restrict(c.file, part.from, to)
}

// offset returns where the reading of a part is: it must start where that of the part before ended.
func (t *openTable) offset(part *inputPart) int64 {
	if part == nil || !part.text {
		return 0
	}
	return t.text.Offset()
}

// unit is a piece of a table that one process parses.
type unit struct {
	input, number, of int
	weight            float64
	text              bool
}

// sampledPieces is the number of pieces of a file, of pieceSize bytes, that processes compare.
const (
	sampledPieces = 64
	pieceSize     = 4 << 10
)

// units returns the units of the source and a fingerprint of its files; false if it does not consist of files.
func (s Source) units() (units []unit, mark [sha256.Size]byte, ok bool) {
	digest := sha256.New()
	for i, in := range s.inputs {
		if in.columns != nil || in.reader != nil || in.name == "-" {
			return nil, mark, false
		}
		weights, text, mark := in.units()
		if weights == nil {
			return nil, mark, false
		}
		digest.Write(mark[:])
		for k, w := range weights {
			units = append(units, unit{i, k, len(weights), w, text})
		}
	}
	digest.Sum(mark[:0])
	return units, mark, true
}

// units returns the weights of the units of a file, whether it is plain text, and a hash of its
// size and some of its content.
func (in input) units() (weights []float64, text bool, mark [sha256.Size]byte) {
	f, err := os.Open(in.name)
	if err != nil {
		return nil, false, mark
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, false, mark
	}
	size := info.Size()
	digest := sha256.New()
	digest.Write(binary.AppendVarint(nil, size))
	piece := make([]byte, pieceSize)
	for k := range int64(sampledPieces) {
		n, _ := f.ReadAt(piece, max(0, size-pieceSize)*k/(sampledPieces-1))
		digest.Write(piece[:n])
	}
	digest.Sum(mark[:0])
	var head [magic.Size]byte
	n, _ := f.ReadAt(head[:], 0)
	switch {
	case magic.Columnar(head[:n]) == magic.Parquet:
		for _, bytes := range columnar.RowGroups(f, size) {
			weights = append(weights, float64(bytes))
		}
	case magic.Columnar(head[:n]) == "" && magic.Compression(head[:n]) == "":
		text = true
		for range delimited.TextBlocks(size) {
			weights = append(weights, delimited.BlockSize)
		}
	default:
		weights = []float64{compressed * float64(size)}
	}
	return weights, text, mark
}

// compressed is the usual factor by which a table shrinks.
const compressed = 4

// share returns the inputs, or parts of them, that one of several processes reads.
func (s Source) share(units []unit, rank, size int) Source {
	total := 0.0
	for _, u := range units {
		total += u.weight
	}
	var own Source
	before := 0.0
	for _, u := range units {
		of := min(size-1, int(float64(size)*(before+u.weight/2)/total))
		before += u.weight
		if of != rank {
			continue
		}
		if last := len(own.inputs) - 1; last >= 0 && u.number > 0 && own.inputs[last].part.to == u.number && own.inputs[last].name == s.inputs[u.input].name {
			own.inputs[last].part.to++
			continue
		}
		in := s.inputs[u.input]
		in.part = &inputPart{from: u.number, to: u.number + 1, of: u.of, text: u.text}
		own.inputs = append(own.inputs, in)
	}
	for i := range own.inputs {
		if p := own.inputs[i].part; p.from == 0 && p.to == p.of {
			own.inputs[i].part = nil
		}
	}
	return own
}

// leastUnits is the number of units per process from which a table is divided.
const leastUnits = 2

// partFacts are what the processes know of each other's part. It has no pointers.
type partFacts struct {
	Failed                             bool
	Mark                               [sha256.Size]byte
	Inputs                             int
	First, Last                        inputPartFacts
	Rows, Missing, ZeroWeight, Decoded int
	Observations                       int
	Low, Dropped, Words                bool
}

// inputPartFacts is where the first or the last part of an input starts and ends.
type inputPartFacts struct {
	From, To, Of int
	Start, End   int64
}

// readTogether reads the table together with the peers. It returns nil if each has to read it
// alone. If the processes may keep their rows and do so, it returns where those of each start.
func (p *pipeline) readTogether(ctx context.Context, keep bool) (t *dataset.Table, bounds []int) {
	group := p.format.Peers
	if group == nil || group.Size() == 1 {
		return nil, nil
	}
	units, mark, ok := p.source.units()
	facts := partFacts{Failed: !ok || p.schema.Target == "" || p.schema.Check() != nil || len(units) < leastUnits*group.Size(), Mark: mark}
	var b *builder
	if !facts.Failed {
		own := *p
		own.source = p.source.share(units, group.Rank(), group.Size())
		b = own.readPart(ctx, &facts)
	}
	all := peers.Each(group, facts)
	if !fitTogether(all) {
		return nil, nil
	}
	b.copies.Wait()
	whole, bounds := p.join(b, all, keep)
	t, err := p.complete(whole, group, bounds != nil)
	if err != nil {
		return nil, nil // one process says where in the file
	}
	return t, bounds
}

// readPart reads the part of this process.
func (p *pipeline) readPart(ctx context.Context, facts *partFacts) *builder {
	b := newBuilder(p.schema, p.workers(), 0)
	var err error
	if len(p.source.inputs) > 0 {
		b, err = p.build(ctx)
	}
	if facts.Failed = err != nil || b.table.Counts.NoID > 0; facts.Failed { // dictionaries of the whole table leave ids out
		return nil
	}
	at := func(i int) inputPartFacts {
		out := inputPartFacts{Start: p.starts[i], End: p.ends[i]}
		if part := p.source.inputs[i].part; part != nil {
			out.From, out.To, out.Of = part.from, part.to, part.of
		}
		return out
	}
	if facts.Inputs = len(p.source.inputs); facts.Inputs > 0 {
		facts.First, facts.Last = at(0), at(facts.Inputs-1)
	}
	counts := b.table.Counts
	facts.Rows, facts.Missing, facts.ZeroWeight, facts.Decoded = counts.Rows, counts.Missing, counts.ZeroWeight, b.table.Decoded
	facts.Observations, facts.Low, facts.Dropped, facts.Words = b.table.Len(), b.table.Low != nil, b.dropped, b.words
	return b
}

// fitTogether reports whether the parts of all processes are the table: none failed, their files
// are the same, and each part of a text ends where the next one starts.
func fitTogether(all []partFacts) bool {
	before, rows := -1, 0
	for r, f := range all {
		if f.Failed || f.Mark != all[0].Mark {
			return false
		}
		if rows += f.Rows; f.Inputs == 0 {
			continue
		}
		if before >= 0 {
			last := all[before].Last
			if last.To < last.Of && (f.First.From != last.To || f.First.Start != last.End) {
				return false
			}
		}
		before = r
	}
	return rows <= math.MaxInt32
}

// join returns the builder of the whole table, given that of the part of this process. If the
// processes may keep their rows and do so, it also returns where those of each start.
func (p *pipeline) join(b *builder, all []partFacts, keep bool) (*builder, []int) {
	group, own := p.format.Peers, b.table
	whole := newBuilder(p.schema, 0, 0)
	t := whole.table
	bounds := make([]int, len(all)+1)
	rowsBefore, low := 0, false
	for r, f := range all {
		if r < group.Rank() {
			rowsBefore += f.Rows
		}
		bounds[r+1] = bounds[r] + f.Observations
		t.Counts.Rows += f.Rows
		t.Counts.Missing += f.Missing
		t.Counts.ZeroWeight += f.ZeroWeight
		t.Decoded += f.Decoded
		low, whole.dropped, whole.words = low || f.Low, whole.dropped || f.Dropped, whole.words || f.Words
	}
	for _, content := range peers.Texts(group, b.content) {
		whole.content = append(whole.content, content...)
	}
	for m := range t.Codes {
		number := joinIDs(group, t.Dicts[m], own.Dicts[m])
		for k, c := range own.Codes[m] {
			own.Codes[m][k] = number[c]
		}
	}
	if s := &p.schema; keep && !low && !whole.dropped && !whole.words && s.Weight == "" && s.Exposure == "" && s.Censored == "" && s.Part == "" {
		own.Dicts = t.Dicts
		var distinct bool
		if bounds, distinct = own.DistinctShares(group, bounds); distinct {
			t.Codes, t.Y = own.Codes, own.Y
			return whole, bounds
		}
	}
	for m := range t.Codes {
		switch ids := t.Dicts[m].Len(); {
		case ids <= math.MaxUint8:
			t.Codes[m] = joinedCodes[uint8](group, bounds, own.Codes[m])
		case ids <= math.MaxUint16:
			t.Codes[m] = joinedCodes[uint16](group, bounds, own.Codes[m])
		default:
			t.Codes[m] = joinedCodes[int32](group, bounds, own.Codes[m])
		}
		own.Codes[m] = nil
	}
	same := func(v float32) float32 { return v }
	t.Y = joined(group, bounds, own.Y, same)
	if low {
		if own.Low == nil {
			own.Low = make([]float32, own.Len())
		}
		t.Low = joined(group, bounds, own.Low, same)
	}
	if p.schema.Weight != "" {
		t.W = joined(group, bounds, own.W, same)
	}
	if p.schema.Exposure != "" {
		t.Exposure = joined(group, bounds, own.Exposure, same)
	}
	if p.schema.Censored != "" {
		t.Censored = joined(group, bounds, own.Censored, same)
	}
	if p.schema.Part != "" {
		t.Part = joined(group, bounds, own.Part, func(p dataset.Part) dataset.Part { return p })
	}
	if whole.dropped {
		rows := own.Row
		if rows == nil {
			rows = make([]int32, own.Len())
			for k := range rows {
				rows[k] = int32(k)
			}
		}
		t.Row = joined(group, bounds, rows, func(row int32) int32 { return int32(rowsBefore) + row })
	}
	return whole, nil
}

// joinedCodes returns the codes of all processes, of which this one has its own. They fit into the type that travels.
func joinedCodes[T uint8 | uint16 | int32](group peers.Group, bounds []int, own []int32) []int32 {
	all := joined(group, bounds, own, func(c int32) T { return T(c) })
	if codes, ok := any(all).([]int32); ok {
		return codes
	}
	codes := regrown([]int32(nil), len(all))[:len(all)]
	for k, c := range all {
		codes[k] = int32(c)
	}
	return codes
}

// joined returns the values of all processes, of which this one has its own, changed by a function.
func joined[T, O any](group peers.Group, bounds []int, own []O, change func(O) T) []T {
	all := regrown([]T(nil), bounds[len(bounds)-1])[:bounds[len(bounds)-1]]
	dst := all[bounds[group.Rank()]:]
	for k, v := range own {
		dst[k] = change(v)
	}
	peers.Values(group, all, bounds, 1)
	return all
}
