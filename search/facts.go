package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/guess"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/spec"
)

// factRows is the number of rows below which facts about ids are taken from the table itself:
// up to there the guess has seen every row, and the use of side information is compared.
const factRows = 100_000

// adoptFacts makes the columns that the ids of a mode determine, such as the city of a store, side
// information of that mode, and moves them from the guess's candidates to its notes. They are known
// with the id, so nothing else has to be given for a prediction. Facts about periods are left
// alone, and so are tables of records, whose covariates say more, tables whose terms, side tables
// or modes are given, and forecasts. So are tables in which ids or targets are missing: the ids of
// the other rows may all have the same facts.
func adoptFacts(s *spec.Spec, g *tableio.Guess) {
	filled := s.Clone()
	filled.Fill()
	if records := g.Records && len(g.Covariates) > 0; records || len(g.Determined) == 0 || columnOf(g, s.Data.Target).Missing > 0 || len(s.Data.Files) != 1 || len(s.Side.Tables) > 0 || !filled.Automatic() || strings.HasPrefix(s.Split, "time:") || g.Spread || g.Rows >= factRows {
		return
	}
	for _, text := range g.Modes {
		mode, err := dataset.ParseMode(text)
		if err != nil || text != mode.Name || !slices.Equal(mode.Columns, []string{mode.Name}) || columnOf(g, mode.Name).Kind == guess.KindDate || columnOf(g, mode.Name).Missing > 0 {
			continue
		}
		table := sideinfo.Spec{Mode: mode.Name, File: s.Data.Files[0]}
		var names []string
		g.Determined = slices.DeleteFunc(g.Determined, func(d guess.Determined) bool {
			if d.Mode != mode.Name || !informative(g, d) {
				return false
			}
			table.Columns = append(table.Columns, sideinfo.ColumnSpec{Name: d.Column})
			names = append(names, d.Column)
			return true
		})
		if len(names) == 0 {
			continue
		}
		s.Side.Tables = append(s.Side.Tables, table.String())
		g.Notes = append(g.Notes, fmt.Sprintf("side information of %s: %s, because all rows of one %s have the same; to use others, set side.tables", mode.Name, strings.Join(names, ", "), mode.Name))
	}
}

// informative reports whether ids can share a value of a column that they determine. A text that is
// different for almost every id, such as its name, is another id.
func informative(g *tableio.Guess, d guess.Determined) bool {
	column := columnOf(g, d.Column)
	shared := column.Kind == guess.KindNumber || 2*column.Distinct <= columnOf(g, d.Mode).Distinct
	return column.Distinct > 1 && column.Kind != guess.KindDate && shared
}

// columnOf returns what the guess knows about a column of the table.
func columnOf(g *tableio.Guess, name string) guess.Column {
	i := slices.IndexFunc(g.Columns, func(c guess.Column) bool { return c.Name == name })
	if i < 0 {
		return guess.Column{}
	}
	return g.Columns[i]
}
