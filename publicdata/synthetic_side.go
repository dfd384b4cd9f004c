package publicdata

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/synthetic"
)

// writeItems writes the side information of the items; movies have titles and genres.
func (o Synthetic) writeItems(set *synthetic.Set, w io.Writer) error {
	header, columns := set.ItemTable()
	switch {
	case set.Tags() == 0 && o.Shape == "retail":
		return writeColumns(w, "article", set.ItemID, header, columns)
	case set.Tags() == 0:
		return writeColumns(w, "item", set.ItemID, header, columns)
	}
	movies := make([]movie, set.Items)
	for i := range movies {
		movies[i] = newMovie(set.ItemID(i), fmt.Sprintf("Movie %d (%s)", i+1, columns[0][i]), strings.Join(set.ItemGenres(i), "|"))
	}
	return writeMovies(w, movies)
}

func writeColumns(w io.Writer, id string, name func(k int) string, header []string, columns [][]string) error {
	text := appendLine(nil, append([]string{id}, header...))
	for i := range columns[0] {
		fields := []string{name(i)}
		for _, c := range columns {
			fields = append(fields, c[i])
		}
		text = appendLine(text, fields)
	}
	_, err := w.Write(text)
	return err
}

func writeGenome(ctx context.Context, set *synthetic.Set, tagged []int, w io.Writer) error {
	line := genomeHeader(set.Tags())
	var scores []float32
	for _, item := range tagged {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
		scores = set.Relevances(item, scores[:0])
		line = append(line[:0], set.ItemID(item)...)
		for _, v := range scores {
			line = appendFixed(append(line, ','), float64(v), 4)
		}
		line = append(line, '\n')
	}
	_, err := w.Write(line)
	return err
}
