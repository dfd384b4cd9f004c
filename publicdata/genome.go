package publicdata

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/plural"
)

// genome holds the relevance of each tag for each movie with tags.
type genome struct {
	ids     []string
	scores  [][]float32 // one row per movie, NaN for missing values
	tags    []string    // tag k is column tag(k+1)
	code    map[string]int
	missing int // number of missing relevances
	dropped reasonCounts
}

const maxTags = 1 << 16 // maximum number of tags

type score struct {
	movie int32 // index within the part
	tag   int32
	value float32
}

type scoresPart struct {
	ids     []string
	scores  []score
	dropped reasonCounts
}

// readGenome pivots rows of movie, tag and relevance into one row per movie. It
// needs 4 bytes of memory per relevance.
func readGenome(ctx context.Context, file, tagsFile string, threads int) (*genome, error) {
	g := &genome{code: map[string]int{}}
	if tagsFile != "" {
		if err := g.readTags(ctx, tagsFile); err != nil {
			return nil, err
		}
	}
	var at []int
	err := tableio.Scan(ctx, tableio.Files(file), tableio.Format{Header: delimited.HeaderYes}, threads, func(names []string) (err error) {
		at, err = locate(file, names, []column{{"movieId", "movieId", true}, {"tagId", "tagId", true}, {"relevance", "relevance", true}})
		return err
	}, func(_ int, r *tableio.Records) (any, error) {
		p := new(scoresPart)
		countBad(&p.dropped, file, r)
		var id []byte
		for i := range r.Len() {
			tag, tagOK := parseCount(r.Field(i, at[1]))
			value, valueOK := dataset.Number(string(r.Field(i, at[2])))
			id = appendID(id[:0], r.Field(i, at[0]))
			if !tagOK || !valueOK || tag < 1 || tag > maxTags || len(id) == 0 {
				p.dropped.row("relevance without movie, tag or value", file, r.Line(i), nil)
				continue
			}
			// The rows of a movie are contiguous.
			if n := len(p.ids); n == 0 || p.ids[n-1] != string(id) {
				p.ids = append(p.ids, string(id))
			}
			p.scores = append(p.scores, score{int32(len(p.ids) - 1), int32(tag - 1), float32(value)})
		}
		return p, nil
	}, func(result any) error {
		g.add(result.(*scoresPart))
		return nil
	})
	if err != nil {
		return nil, err
	}
	for k, row := range g.scores {
		for len(row) < len(g.tags) {
			row = append(row, float32(math.NaN()))
		}
		g.scores[k] = row
		for _, v := range row {
			if v != v {
				g.missing++
			}
		}
	}
	return g, nil
}

func (g *genome) add(p *scoresPart) {
	g.dropped.merge(&p.dropped)
	codes := make([]int, len(p.ids))
	for k, id := range p.ids {
		code, ok := g.code[id]
		if !ok {
			code = len(g.ids)
			g.code[id] = code
			g.ids = append(g.ids, id)
			g.scores = append(g.scores, make([]float32, 0, len(g.tags)))
		}
		codes[k] = code
	}
	for _, s := range p.scores {
		row := g.scores[codes[s.movie]]
		for len(row) <= int(s.tag) {
			row = append(row, float32(math.NaN()))
		}
		row[s.tag] = s.value
		g.scores[codes[s.movie]] = row
		for len(g.tags) <= int(s.tag) {
			g.tags = append(g.tags, "")
		}
	}
}

func (g *genome) readTags(ctx context.Context, file string) error {
	frame, err := tableio.ReadFrame(ctx, tableio.Files(file), tableio.Format{Header: delimited.HeaderYes})
	if err != nil {
		return err
	}
	at, err := locate(file, frame.Names, []column{{"tagId", "tagId", true}, {"tag", "tag", true}})
	if err != nil {
		return err
	}
	for i := range frame.Len() {
		id, ok := parseCount([]byte(frame.Columns[at[0]][i]))
		if !ok || id < 1 || id > maxTags {
			return frame.Fault(i, frame.Names[at[0]], frame.Columns[at[0]][i], "invalid tag number", "check that this is a MovieLens download")
		}
		for len(g.tags) < int(id) {
			g.tags = append(g.tags, "")
		}
		g.tags[id-1] = frame.Columns[at[1]][i]
	}
	return nil
}

func (g *genome) facts() (facts []string) {
	if g.missing > 0 {
		facts = append(facts, fmt.Sprintf("%d relevances are missing.", g.missing))
	}
	for _, r := range g.dropped.sorted() {
		facts = append(facts, fmt.Sprintf("Skipped %s of genome-scores.csv: %s (first: %s).", plural.Count(r.Rows, "row"), r.Text, r.First))
	}
	return facts
}

// writeScores writes the table, sorted by movie.
func (g *genome) writeScores(w io.Writer) error {
	order := make([]int, len(g.ids))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return compareNatural(g.ids[a], g.ids[b]) })
	line := genomeHeader(len(g.tags))
	for _, k := range order {
		if _, err := w.Write(line); err != nil {
			return err
		}
		line = appendScores(appendField(line[:0], g.ids[k]), g.scores[k])
	}
	_, err := w.Write(line)
	return err
}

func genomeHeader(tags int) []byte {
	line := []byte("movieId")
	for k := range tags {
		line = strconv.AppendInt(append(line, ",tag"...), int64(k+1), 10)
	}
	return append(line, '\n')
}

// appendScores appends the scores of a movie to its line.
func appendScores(line []byte, scores []float32) []byte {
	for _, v := range scores {
		line = append(line, ',')
		if v == v {
			line = strconv.AppendFloat(line, float64(v), 'f', -1, 32)
		}
	}
	return append(line, '\n')
}

func (g *genome) writeTags(w io.Writer) error {
	line := []byte("column,tag\n")
	for k, tag := range g.tags {
		line = appendLine(line, []string{fmt.Sprintf("tag%d", k+1), tag})
	}
	_, err := w.Write(line)
	return err
}

// compareNatural compares ids in compareNatural order, 9 before 10.
func compareNatural(a, b string) int {
	switch {
	case dataset.Less(a, b):
		return -1
	case dataset.Less(b, a):
		return 1
	}
	return strings.Compare(a, b)
}
