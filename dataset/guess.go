package dataset

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is the probable content of a column.
type Kind string

const (
	KindID     Kind = "id"     // names of entities, which repeat
	KindNumber Kind = "number" // quantities
	KindDate   Kind = "date"   // dates, times, unix seconds
	KindText   Kind = "text"   // texts that rarely repeat
)

// ColumnInfo describes a column by its first rows.
type ColumnInfo struct {
	Name     string
	Kind     Kind
	Distinct int // number of distinct values
	Missing  int
	Min, Max float64 // of the numbers
	Integer  bool    // all values are integers
}

// A Guess is the probable meaning of a table's columns.
type Guess struct {
	Target  string   // "" if no column is suitable
	Modes   []string // in the form that ParseMode reads
	Columns []ColumnInfo
	Rows    int // rows in the sample
}

// GuessColumns guesses the target and the modes of a table from a sample of its rows,
// which must not be empty.
//
// The target is a numeric column with the name of a target (sales, rating, y), or
// else the last numeric column without the name of an id. The modes are the columns
// of ids, with year and month joined, and the hour of a time of day. A column that
// the ids of another column determine (the city of a store) is left out.
func GuessColumns(names []string, sample [][]string) *Guess {
	g := &Guess{Rows: len(sample)}
	for c, name := range names {
		g.Columns = append(g.Columns, describe(name, sample, c))
	}
	target := g.guessTarget()
	if target >= 0 {
		g.Target = names[target]
		g.Columns[target].Kind = KindNumber
	}
	g.guessModes(sample, target)
	return g
}

func describe(name string, sample [][]string, c int) ColumnInfo {
	info := ColumnInfo{Name: name, Integer: true}
	distinct := map[string]bool{}
	numeric, moments, unix := 0, 0, 0
	for _, record := range sample {
		value := record[c]
		if Missing(value) {
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
			if t, ok := Moment(value); ok && t.Year() >= 1980 && t.Year() < 2100 {
				unix++
			}
		} else if _, ok := Moment(value); ok {
			moments++
		}
	}
	present := len(sample) - info.Missing
	info.Distinct = len(distinct)
	info.Integer = info.Integer && numeric == present && present > 0
	repeats := 2*info.Distinct <= present
	switch {
	case present > 0 && moments == present, present > 0 && unix == present && nameHasWord(name, timeWords):
		info.Kind = KindDate
	case numeric == present && present > 0 && !info.Integer:
		info.Kind = KindNumber
	case numeric == present && present > 0:
		info.Kind = KindNumber
		if repeats || nameHasWord(name, idWords) {
			info.Kind = KindID
		}
	case repeats || nameHasWord(name, idWords):
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

// nameHasWord reports whether a word of a name (item_id, itemId, item id) is among
// words.
func nameHasWord(name string, words []string) bool {
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

// guessTarget returns the column that most resembles a target, or -1.
func (g *Guess) guessTarget() int {
	best, bestScore := -1, 0
	for c, info := range g.Columns {
		numeric := info.Kind == KindNumber || info.Kind == KindID && info.Integer
		if !numeric || nameHasWord(info.Name, partWords) {
			continue
		}
		score := 1
		if nameHasWord(info.Name, targetWords) {
			score += 8
		}
		if nameHasWord(info.Name, idWords) {
			score -= 8
		}
		if !info.Integer {
			score += 2
		}
		if info.Distinct < 2 {
			score -= 4
		}
		if score > 0 && score >= bestScore { // the last of equal scores
			best, bestScore = c, score
		}
	}
	return best
}

// guessModes sets g.Modes, in the order of the columns with time last.
func (g *Guess) guessModes(sample [][]string, target int) {
	calendar := map[string]int{}
	var keys []int
	var times []string
	for c, info := range g.Columns {
		if c == target || nameHasWord(info.Name, partWords) {
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

// modeOf names a mode after its column if a term may contain that name.
func (g *Guess) modeOf(c int) string {
	name := g.Columns[c].Name
	m := Mode{Name: name, Columns: []string{name}}
	if strings.ContainsAny(name, reserved+"+") {
		m.Name = fmt.Sprintf("mode%d", c+1)
	}
	return m.String()
}

// timeMode uses the hour if the values contain a time of day, else the values.
func (g *Guess) timeMode(sample [][]string, c int) string {
	name := g.Columns[c].Name
	for _, record := range sample {
		if t, ok := Moment(record[c]); ok && (t.Hour() != 0 || t.Minute() != 0) {
			return Mode{Name: "hour", Columns: []string{name}, Func: "hour"}.String()
		}
	}
	return Mode{Name: "time", Columns: []string{name}}.String()
}

// determined reports whether some other key column, which has more ids than column c
// and whose ids repeat, determines column c.
func (g *Guess) determined(sample [][]string, c int, keys []int) bool {
	for _, other := range keys {
		if other == c || g.Columns[other].Distinct <= g.Columns[c].Distinct || 2*g.Columns[other].Distinct > len(sample) {
			continue
		}
		determines := map[string]string{}
		unique := true
		for _, record := range sample {
			if before, ok := determines[record[other]]; ok && before != record[c] {
				unique = false
				break
			}
			determines[record[other]] = record[c]
		}
		if unique {
			return true
		}
	}
	return false
}
