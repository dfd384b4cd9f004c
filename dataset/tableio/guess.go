package tableio

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/guess"
	"github.com/kernel-fried-tensor/kft/dataset/internal/modeid"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// A Guess is the probable meaning of a table's columns, and its format.
type Guess struct {
	*guess.Guess
	Format Format // as detected, with the numbers of the target
	Spread bool   // the sample consists of rows from several places, not of the first rows
}

const (
	// guessRows is the size of the sample for a guess: large enough for ids to repeat.
	guessRows = 100_000
	// guessBlock is the number of bytes in a block of the sample. Many small blocks cover a
	// table better than a few large ones.
	guessBlock = 16 << 10
	// cellRows is the number of rows over which cells are checked to be unique.
	cellRows = 1_000_000
)

// GuessColumns guesses the target and the modes of a table from its first rows. See
// [guess.Columns]. If the target or the modes cannot be guessed it returns a
// *guess.Error beside the guess, which says what to give instead.
func GuessColumns(source Source, format Format) (*Guess, error) {
	return GuessWith(source, format, guess.Given{})
}

// GuessWith is like GuessColumns for a table of which something is known.
func GuessWith(source Source, format Format, given guess.Given) (*Guess, error) {
	s, err := readGuessSample(source, format)
	if err != nil {
		return nil, err
	}
	for _, column := range []struct{ name, field string }{{given.Target, "data.target"}, {given.Weight, "data.weight"}, {given.Exposure, "data.exposure"}, {given.Censored, "data.censored"}} {
		if column.name != "" && !slices.Contains(s.Names, column.name) {
			missing := dataset.MissingColumn(source.String(), column.name, s.Names)
			missing.Field = column.field
			return nil, missing
		}
	}
	if given.Numbers.Plain() {
		given.Numbers = format.Numbers
	}
	g := &Guess{Format: s.Format, Spread: s.Spread}
	g.Guess = guess.Columns(guess.Sample{Names: s.Names, Rows: s.Rows, Lines: s.Lines, Unit: s.Unit, Several: len(source.inputs) > 1, Headerless: s.Format.Header == delimited.HeaderNo, Whole: s.whole}, given)
	g.Format.Numbers = g.Numbers
	if g.Duplicates == "" && len(g.Modes) > 0 && len(s.Rows) >= guessRows && source.Repeatable() {
		g.checkMoreCells(source)
	}
	return g, g.Check(source.String())
}

// readGuessSample reads rows of every input, in equal shares: with one file per month,
// the first file alone has only one month. The rows of a large file are spread over it.
func readGuessSample(source Source, format Format) (*Sample, error) {
	if len(source.inputs) == 0 {
		return nil, fielderr.Errorf("data.files", "there is no table; name a file, or - for standard input")
	}
	var all *Sample
	for _, in := range source.inputs {
		c, err := in.open(format.stdin(), guessBlock)
		if err != nil {
			return nil, err
		}
		s, err := readSample(c, &Sample{Format: format, spread: stride{size: in.size()}}, max(1000, guessRows/len(source.inputs)))
		c.close()
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = s
			continue
		}
		all.Spread, all.whole = true, all.whole && s.whole
		at := make([]int, len(all.Names))
		for i, name := range all.Names {
			if at[i] = slices.Index(s.Names, name); at[i] < 0 {
				missing := dataset.MissingColumn(in.name, name, s.Names)
				missing.Problem = "the table lacks this column, which " + source.inputs[0].name + " has"
				return nil, missing
			}
		}
		for k, row := range s.Rows {
			record := make([]string, len(at))
			for i, c := range at {
				record[i] = row[c]
			}
			all.Rows, all.Lines = append(all.Rows, record), append(all.Lines, s.Lines[k])
		}
	}
	if len(all.Rows) == 0 {
		return nil, source.noRows()
	}
	return all, nil
}

var errEnoughRows = errors.New("enough rows")

// checkMoreCells checks that cells are unique over more rows than the sample has, and
// proposes a rule for duplicates if they are not.
func (g *Guess) checkMoreCells(source Source) {
	schema := dataset.Schema{Target: g.Target}
	var dicts []*dataset.Dict
	for _, text := range g.Modes {
		m, err := dataset.ParseMode(text)
		if err != nil {
			return // the caller reports given modes that are wrong
		}
		schema.Modes = append(schema.Modes, m)
		dicts = append(dicts, dataset.NewDict(nil))
	}
	seed := maphash.MakeSeed()
	seen := make(map[uint64]struct{}, cellRows)
	rows, repeats := 0, guess.Repeats{PutBack: true}
	p := pipeline{source: source, schema: schema, format: g.Format, threads: 1}
	encoders := make([]*modeid.Encoder, len(schema.Modes))
	for m, mode := range schema.Modes {
		encoders[m] = modeid.Fixed(mode, dicts[m])
	}
	var text textRows
	var typed typedRows
	err := p.run(context.Background(), func(*openTable) error { return nil }, func(_ int, c *chunk) (any, error) {
		r, _, err := c.start(&text, &typed)
		if err != nil {
			return nil, errEnoughRows // reading the table reports it
		}
		var cell, id []byte
		for i := 0; i < r.Len() && rows < cellRows; i++ {
			rows++
			if target := c.table.columns.Target; target >= 0 && dataset.MissingNumber(string(r.Field(i, target))) {
				continue
			}
			cell = cell[:0]
			for m, e := range encoders {
				id, _ = e.AppendID(id[:0], r, i, c.table.columns.Modes[m])
				cell = append(append(cell, dataset.WholeID(id)...), 0)
			}
			h := maphash.Bytes(seed, cell)
			if _, again := seen[h]; again {
				repeats.Rows++
				repeats.PutBack = repeats.PutBack && putBack(string(cell))
			}
			seen[h] = struct{}{}
		}
		if rows >= cellRows {
			return nil, errEnoughRows
		}
		return nil, nil
	}, func(any) error { return nil })
	if (err == nil || errors.Is(err, errEnoughRows)) && repeats.Rows > 0 {
		g.ProposeDuplicates(repeats)
	}
}

// putBack reports whether one of the ids of a cell, each of which ends in a zero byte, is a time
// at which clocks may have been put back.
func putBack(cell string) bool {
	return slices.ContainsFunc(strings.Split(cell, "\x00"), func(id string) bool {
		t, ok := dataset.Moment(id)
		return ok && guess.PutBack(t)
	})
}
