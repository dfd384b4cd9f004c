package guess

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/guess/numbertext"
	"github.com/kernel-fried-tensor/kft/dataset/guess/relation"
	"github.com/kernel-fried-tensor/kft/dataset/internal/timepart"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
	"github.com/kernel-fried-tensor/kft/internal/plural"
)

// guessTarget sets the target: the given one, or the column that most resembles a
// target.
func (g *guesser) guessTarget() {
	if g.given.Target != "" {
		g.target = slices.Index(g.sample.Names, g.given.Target)
	} else {
		best := 0
		priced := g.lastPrice()
		for i, c := range g.columns {
			if score := g.targetScore(c, c == priced); score > 0 && score >= best { // the last of equal scores
				g.target, best = i, score
			}
		}
	}
	if g.target < 0 {
		return
	}
	c := g.columns[g.target]
	g.Target, g.Numbers = c.Name, c.Numbers
	c.Kind = KindNumber
}

// mayBeTarget reports whether a column has numbers that differ and do not count the rows.
func (g *guesser) mayBeTarget(c *sampleColumn) bool {
	return c.numeric && c.Distinct >= 2 && c.Kind != KindDate && !g.reserved(c) && !g.countsRows(c)
}

// isConstantTarget reports whether a column has the name of a target, but no values that differ, and the guessed target has no such name.
func (g *guesser) isConstantTarget(c *sampleColumn) bool {
	return g.given.Target == "" && g.target >= 0 && c.Distinct < 2 && namedTarget(c.Name) && !columnname.HasIDWord(c.Name) && !g.reserved(c) && !namedTarget(g.Target)
}

// countsRows reports whether the first column counts the rows from 0 or 1 on, as the index of a
// frame that was written does.
func (g *guesser) countsRows(c *sampleColumn) bool {
	if c != g.columns[0] || len(g.columns) < 3 || !c.Integer || c.Distinct != g.Rows || c.Min != 0 && c.Min != 1 {
		return false
	}
	last := c.Min - 1
	for _, code := range c.codes {
		v, ok := dataset.Number(c.values[code])
		if !ok || v <= last {
			return false
		}
		last = v
	}
	return true
}

// lastPrice returns the last column of numbers if it is a price or a cost by its name, or the last of all columns if its name is rate, or the only
// such column that has no other word in its name among many numbers, if no column has the name of a
// target: beside sales a price is a covariate, but in a table of houses it is what the others
// explain. Else it returns nil.
func (g *guesser) lastPrice() *sampleColumn {
	var last, only *sampleColumn
	numbers, prices := 0, 0
	for _, c := range g.columns {
		if c.Kind == KindFlag && columnname.HasWord(c.Name, eventFlags) && !g.reserved(c) {
			return nil
		}
		if !g.mayBeTarget(c) {
			continue
		}
		if namedTarget(c.Name) && !columnname.HasIDWord(c.Name) && timepart.UnitOf(c.Name) == timepart.None {
			return nil
		}
		last = c
		numbers++
		if words := priceName(c.Name); words != nil {
			prices++
			if len(words) == 1 || words[0] == "sale" {
				only = c
			}
		}
	}
	switch {
	case last == nil:
		return nil
	case last == g.columns[len(g.columns)-1] && slices.Contains(tariffWords, strings.ToLower(last.Name)) && !g.determinedByColumn(last):
		return last
	case prices == 0:
		return nil
	case priceName(last.Name) != nil:
		return last
	case prices == 1 && numbers > fewDescribing:
		return only
	}
	return nil
}

// priceName returns the words of the name of a price without its unit: price, of "Price (EUR)" and
// price_per_night. It returns nil for other names.
func priceName(name string) []string {
	words := columnname.Words(name)
	if per := slices.Index(words, "per"); per > 0 {
		words = words[:per]
	}
	for len(words) > 1 && slices.Contains(currencyWords, words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	if len(words) == 0 || !slices.Contains(priceWords, words[len(words)-1]) {
		return nil
	}
	return words
}

// targetScore is higher for a column that is more likely the target; 0 or less for
// one that cannot be. The column priced is that of lastPrice.
func (g *guesser) targetScore(c *sampleColumn, priced bool) int {
	if words := c.Kind == KindFlag && !g.reserved(c); !words && !g.mayBeTarget(c) {
		return 0
	}
	score := 10
	named := namedTarget(c.Name)
	if c.Kind == KindFlag && (named || columnname.HasWord(c.Name, eventFlags)) {
		return 16 // yes or no as the outcome
	}
	if named {
		score += 8
	}
	if columnname.HasIDWord(c.Name) || c.Integer && timepart.UnitOf(c.Name) != timepart.None { // as yr.sold
		score -= 10
	}
	if columnname.HasWord(c.Name, weightWords) && g.beside(c, livingWords) {
		score += 3
	}
	switch {
	case priced:
		score += 6
	case columnname.IsCovariate(withoutTotal(c.Name)) || numberedName(c.Name) && c != g.columns[len(g.columns)-1]:
		score -= 4
	}
	switch {
	case c.Kind == KindFlag && c == g.columns[len(g.columns)-1] && !columnname.IsCovariate(c.Name):
		score -= 2 // yes or no as the outcome
	case c.Kind == KindFlag:
		score -= 7
	case c.Integer && columnname.HasPeriodWord(c.Name) && c.Max-c.Min < 2*float64(c.Distinct):
		score -= 10 // steps of time
	case c.Integer && score <= 10 && g.numbersRows(c):
		score -= 10 // attempts, cycles
	}
	if !c.Integer {
		score += 2
	}
	if score > 0 && score < 18 && g.determinedByColumn(c) {
		score -= 6
	}
	return score
}

// numbersRows reports whether a column numbers the rows of each id, such as the attempts
// of a student, beside a flag that may be the outcome, or the grades of a school beside a
// column with fractions: its values are regular, and with it the rows of the ids are unique,
// but not without it.
func (g *guesser) numbersRows(c *sampleColumn) bool {
	var ids []sampleMode
	hasOutcome, graded := false, columnname.HasWord(c.Name, gradeWords)
	for _, other := range g.columns {
		switch {
		case other == c || g.reserved(other):
		case other.Kind == KindFlag || graded && !other.Integer && g.mayBeTarget(other) && !columnname.HasIDWord(other.Name):
			hasOutcome = true
		case other.Kind == KindID && !other.Integer || other.Kind == KindDate || columnname.IsID(other.Name):
			ids = append(ids, g.modeOfColumn(other))
		}
	}
	if !hasOutcome || len(ids) == 0 || !g.repeats(c.Distinct) || c.Distinct < 3 || c.Missing > 0 {
		return false
	}
	step := 0.0 // the greatest common divisor of the distances
	for _, value := range c.values {
		for rest := numbertext.Exact(c.Numbers, value) - c.Min; rest > 0; {
			step, rest = rest, math.Mod(step, rest)
		}
	}
	return c.Max-c.Min < 2*step*float64(c.Distinct) && g.repeated(ids) > 0 && g.unique(append(ids, g.modeOfColumn(c)))
}

// reserved reports whether a column has another purpose than target or mode.
func (g *guesser) reserved(c *sampleColumn) bool {
	return g.given.reserves(c.Name) || c.dividesRows() != "" || g.weighsRows(c)
}

// weighsRows reports whether a column is by its name a weight or an exposure of the rows, and not
// the measured weight of animals or things.
func (g *guesser) weighsRows(c *sampleColumn) bool {
	return c.numeric && columnname.HasWord(c.Name, weightWords) && !g.isMass(c)
}

// isMass reports whether a column called weight is one that was measured: its name says of what
// (body_weight), or other columns are those of animals, plants or things with a size, or there is
// no other column that could be the target, unless small integers count rows.
func (g *guesser) isMass(c *sampleColumn) bool {
	if columnname.HasWord(c.Name, []string{"exposure"}) {
		return false
	}
	if words := columnname.Words(c.Name); len(words) > 1 {
		return columnname.HasWord(c.Name, massWords)
	}
	if g.beside(c, livingWords) || g.beside(c, thingWords) {
		return true
	}
	return c.Min > 1 && !slices.ContainsFunc(g.columns, func(o *sampleColumn) bool {
		return o != c && o.numeric && o.Distinct > 2 && o.Kind != KindDate && !columnname.HasIDWord(o.Name) && !g.given.reserves(o.Name)
	})
}

// beside reports whether another column has one of some words in its name; a length or a width has it at the end.
func (g *guesser) beside(c *sampleColumn, words []string) bool {
	return slices.ContainsFunc(g.columns, func(o *sampleColumn) bool {
		named := columnname.Words(o.Name)
		last := ""
		if len(named) > 0 {
			last = named[len(named)-1]
		}
		return o != c && columnname.HasWord(o.Name, words) && (last == "length" || last == "width" || !columnname.HasWord(o.Name, []string{"length", "width"}))
	})
}

// mostFolds is the number of folds up to which integers may number them.
const mostFolds = 100

// dividesRows returns how a column divides the rows into parts by its name and its
// values, or "". The name alone does not say: a part may also be a spare part.
func (c *sampleColumn) dividesRows() string {
	if !columnname.HasWord(c.Name, partWords) || c.Distinct == 0 {
		return ""
	}
	if columnname.HasWord(c.Name, []string{"fold"}) && c.Integer && c.Min >= 0 && c.Distinct <= mostFolds && c.Max <= mostFolds {
		return "by its name it numbers folds of the rows"
	}
	readable := true
	for _, value := range c.values {
		_, ok := dataset.ParsePart([]byte(value))
		if !ok && !dataset.Missing(value) && !slices.Contains(partTexts, strings.ToLower(value)) {
			return ""
		}
		readable = readable && ok
	}
	if !readable {
		return "it divides the rows into parts; with the values train, valid, test and unused, split: column:" + c.Name + " uses it"
	}
	return "it divides the rows into parts; split: column:" + c.Name + " uses it"
}

// determinedByColumn reports whether another column that repeats determines c.
func (g *guesser) determinedByColumn(c *sampleColumn) bool {
	return slices.ContainsFunc(g.columns, func(by *sampleColumn) bool {
		return by != c && (by.Kind == KindID || by.Kind == KindDate) && by.Distinct > 1 && g.repeats(by.Distinct) && relation.Determines(by.codes, len(by.values), c.codes)
	})
}

// repeats reports whether the rows of a column with so many distinct values repeat
// values often enough for ids: twice on average.
func (g *guesser) repeats(distinct int) bool { return 2*distinct <= g.Rows }

// checkTarget notes what is wrong with the target.
func (g *guesser) checkTarget() {
	if g.target < 0 {
		return
	}
	c := g.columns[g.target]
	if c.NotNumbers > 0 {
		remedy := "leave the target empty or write NA where it is missing"
		if sign := c.Numbers.LimitSign([]byte(c.NotNumber)); sign != 0 {
			remedy = dataset.LimitRemedy(sign)
		}
		g.Notes = append(g.Notes, c.NotNumberText(g.unit)+"; "+remedy)
	}
	if c.Distinct == 1 && c.NotNumbers == 0 {
		g.Notes = append(g.Notes, fmt.Sprintf("the target %s is the same in every row, so there is nothing to learn; name another column as data.target", c.Name))
	}
	if value, rows := c.placeholder(); rows > 0 {
		g.Notes = append(g.Notes, fmt.Sprintf("%s of the target %s are %s, far from all other values; if that stands for a missing value, leave the target empty or write NA", plural.Count(rows, "value"), c.Name, value))
	}
	if !c.Numbers.Plain() {
		decimal, thousands := c.Numbers.Texts()
		text := fmt.Sprintf("the target is written with a decimal %s", decimal)
		if thousands != "" {
			text += " and thousands separated by " + thousands
		}
		g.Notes = append(g.Notes, text+fmt.Sprintf(": %q is read as %s", c.widest(), strconv.FormatFloat(numbertext.Exact(c.Numbers, c.widest()), 'f', -1, 64)))
	}
}

// placeholder returns a number of nines alone, such as -999, that several rows have, and their number, if it is further from the
// other values than these are from each other; else 0 rows.
func (c *sampleColumn) placeholder() (value string, rows int) {
	low, high, nines := math.Inf(1), math.Inf(-1), 0.0
	for code, text := range c.values {
		if dataset.Missing(text) {
			continue
		}
		v := numbertext.Exact(c.Numbers, text)
		if next := math.Abs(v) + 1; c.counts[code] > 1 && next >= 100 && next == math.Pow10(int(math.Round(math.Log10(next)))) && next > math.Abs(nines) {
			if rows > 0 {
				low, high = min(low, nines), max(high, nines)
			}
			value, rows, nines = text, c.counts[code], v
		} else if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	if !(low < high) || !(max(low-nines, nines-high) > high-low) {
		return "", 0
	}
	return value, rows
}

// widest returns the longest number of the column, as an example.
func (c *sampleColumn) widest() string {
	widest := ""
	for _, value := range c.values {
		if _, ok := c.Numbers.AppendPlain(nil, []byte(value)); ok && len(value) > len(widest) {
			widest = value
		}
	}
	return widest
}

// mixedPercents says that some values of a column have a percent sign and others have none, and
// where, or "".
func (g *guesser) mixedPercents(column int) string {
	with, without, mixed := g.columns[column].percentSigns()
	if !mixed {
		return ""
	}
	value := func(row int) string { return fmt.Sprintf("%q%s", g.sample.Rows[row][column], g.inLine(row)) }
	return fmt.Sprintf("some values have a percent sign, as %s, and others have none, as %s, so that their unit is unknown", value(with), value(without))
}

// findMixedPercents returns the error of a target of which some values have a percent sign.
func (g *guesser) findMixedPercents() *dataset.InputError {
	if g.target < 0 {
		return nil
	}
	problem := g.mixedPercents(g.target)
	if problem == "" {
		return nil
	}
	return &dataset.InputError{Column: g.columns[g.target].Name, Problem: problem, Remedy: "write all of them with a percent sign or all without", Field: "data.target"}
}
