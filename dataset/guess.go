package dataset

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is what a column seems to hold.
type Kind string

const (
	KindID     Kind = "id"     // names of entities: they come again
	KindNumber Kind = "number" // quantities
	KindDate   Kind = "date"   // dates, times, unix seconds
	KindText   Kind = "text"   // words that hardly come again
)

// ColumnInfo describes a column as its first rows show it.
type ColumnInfo struct {
	Name     string
	Kind     Kind
	Distinct int // different values among Rows
	Missing  int
	Min, Max float64 // of numbers
	Integer  bool    // all values are whole numbers
}

// Guessed is what a table seems to be about.
type Guessed struct {
	Target  string   // "" where no column will do
	Modes   []string // as ParseMode reads them
	Columns []ColumnInfo
	Rows    int // rows looked at
	Format  Format
}

// guessRows are looked at: enough for ids to come again.
const guessRows = 100_000

// Guess looks at the first rows of a table and guesses target and modes.
//
// The target is a column of numbers that is called like one (sales, rating, y) or
// else the last that is not called like an id. Modes are the columns of ids, with
// year and month joined, and the hour of a time of day. A column that another
// column's ids determine (the city of a store) is left out.
func Guess(path string, format Format) (*Guessed, error) {
	names, sample, detected, err := sampleRows(path, format, guessRows)
	if err != nil {
		return nil, err
	}
	if len(sample) == 0 {
		return nil, &InputError{File: path, Problem: "the table has a header but no rows", Remedy: "give at least one row"}
	}
	g := &Guessed{Rows: len(sample), Format: detected}
	for c, name := range names {
		g.Columns = append(g.Columns, describe(name, sample, c))
	}
	target := g.guessTarget()
	if target >= 0 {
		g.Target = names[target]
		g.Columns[target].Kind = KindNumber
	}
	g.guessModes(sample, target)
	return g, nil
}

func describe(name string, sample [][]string, c int) ColumnInfo {
	info := ColumnInfo{Name: name, Integer: true}
	distinct := map[string]bool{}
	numeric, moments, unix := 0, 0, 0
	for _, record := range sample {
		value := record[c]
		if isMissingText([]byte(value)) {
			info.Missing++
			continue
		}
		distinct[value] = true
		if v, ok := Number(value); ok {
			if numeric == 0 {
				info.Min, info.Max = v, v
			}
			numeric++
			info.Min, info.Max = min(info.Min, v), max(info.Max, v)
			if strings.ContainsAny(value, ".eE") {
				info.Integer = false
			}
			if t, ok := parseMoment([]byte(value)); ok && t.Year() >= 1980 && t.Year() < 2100 {
				unix++
			}
		} else if _, ok := parseMoment([]byte(value)); ok {
			moments++
		}
	}
	present := len(sample) - info.Missing
	info.Distinct = len(distinct)
	info.Integer = info.Integer && numeric == present && present > 0
	repeats := 2*info.Distinct <= present
	switch {
	case present > 0 && moments == present, present > 0 && unix == present && called(name, timeWords):
		info.Kind = KindDate
	case numeric == present && present > 0 && !info.Integer:
		info.Kind = KindNumber
	case numeric == present && present > 0:
		info.Kind = KindNumber
		if repeats || called(name, idWords) {
			info.Kind = KindID
		}
	case repeats || called(name, idWords):
		info.Kind = KindID
	default:
		info.Kind = KindText
	}
	return info
}

var (
	targetWords = []string{"target", "y", "value", "label", "response", "sales", "sold", "qty", "quantity", "units", "bottles",
		"rating", "score", "amount", "demand", "count", "volume", "revenue", "clicks", "visits", "total", "measurement"}
	idWords = []string{"id", "key", "code", "no", "number", "zip", "postcode", "sku", "store", "shop", "item", "product", "article",
		"user", "customer", "movie", "year", "quarter", "month", "week", "weekday", "day", "hour", "region", "city", "sensor", "station"}
	timeWords = []string{"time", "timestamp", "ts", "date", "datetime", "created", "at", "unix", "epoch"}
	partWords = []string{"part", "split", "fold", "weight"}
)

// called reports whether a word of a name (item_id, itemId, item id) is among words.
func called(name string, words []string) bool {
	for _, word := range nameWords(name) {
		if slices.Contains(words, word) {
			return true
		}
	}
	return false
}

func nameWords(name string) []string {
	var spaced strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' && i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
			spaced.WriteByte(' ')
		}
		spaced.WriteRune(r)
	}
	return strings.FieldsFunc(strings.ToLower(spaced.String()), func(r rune) bool {
		return strings.ContainsRune(" _-.", r)
	})
}

// guessTarget returns the column most like a target, or -1.
func (g *Guessed) guessTarget() int {
	best, bestScore := -1, 0
	for c, info := range g.Columns {
		numeric := info.Kind == KindNumber || info.Kind == KindID && info.Integer
		if !numeric || called(info.Name, partWords) {
			continue
		}
		score := 1
		if called(info.Name, targetWords) {
			score += 8
		}
		if called(info.Name, idWords) {
			score -= 8
		}
		if !info.Integer {
			score += 2
		}
		if info.Distinct < 2 {
			score -= 4
		}
		if score > 0 && score >= bestScore { // the last of equals
			best, bestScore = c, score
		}
	}
	return best
}

// guessModes fills g.Modes in the order of the columns, time last.
func (g *Guessed) guessModes(sample [][]string, target int) {
	calendar := map[string]int{}
	var keys []int
	var times []string
	for c, info := range g.Columns {
		if c == target || called(info.Name, partWords) {
			continue
		}
		switch lower := strings.ToLower(info.Name); {
		case lower == "year" || lower == "month":
			calendar[lower] = c
		case info.Kind == KindDate:
			times = append(times, g.timeMode(sample, c))
		case info.Kind == KindID:
			keys = append(keys, c)
		}
	}
	year, hasYear := calendar["year"]
	month, hasMonth := calendar["month"]
	switch {
	case hasYear && hasMonth:
		times = append([]string{Mode{Name: "time", Columns: []string{g.Columns[year].Name, g.Columns[month].Name}}.String()}, times...)
	case hasYear:
		keys = append(keys, year)
	case hasMonth:
		keys = append(keys, month)
	}
	for _, c := range keys {
		if !g.determined(sample, c, keys) {
			g.Modes = append(g.Modes, g.modeOf(c))
		}
	}
	g.Modes = append(g.Modes, times...)
}

// modeOf names a mode after its column where the name can stand in a term.
func (g *Guessed) modeOf(c int) string {
	name := g.Columns[c].Name
	m := Mode{Name: name, Columns: []string{name}}
	if strings.ContainsAny(name, reserved+"+") {
		m.Name = fmt.Sprintf("mode%d", c+1)
	}
	return m.String()
}

// timeMode takes the hour of values that hold a time of day, else the values.
func (g *Guessed) timeMode(sample [][]string, c int) string {
	name := g.Columns[c].Name
	for _, record := range sample {
		if t, ok := parseMoment([]byte(record[c])); ok && (t.Hour() != 0 || t.Minute() != 0) {
			return Mode{Name: "hour", Columns: []string{name}, Func: "hour"}.String()
		}
	}
	return Mode{Name: "time", Columns: []string{name}}.String()
}

// determined reports whether each id of some other key column, one with more ids
// that do come again, goes with one id of column c alone.
func (g *Guessed) determined(sample [][]string, c int, keys []int) bool {
	for _, other := range keys {
		if other == c || g.Columns[other].Distinct <= g.Columns[c].Distinct || 2*g.Columns[other].Distinct > len(sample) {
			continue
		}
		goesWith := map[string]string{}
		one := true
		for _, record := range sample {
			if before, ok := goesWith[record[other]]; ok && before != record[c] {
				one = false
				break
			}
			goesWith[record[other]] = record[c]
		}
		if one {
			return true
		}
	}
	return false
}
