package guess

import (
	"slices"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/guess/numbertext"
	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
	"github.com/kernel-fried-tensor/kft/dataset/internal/numeric"
	"github.com/kernel-fried-tensor/kft/dataset/internal/timepart"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
	"github.com/kernel-fried-tensor/kft/internal/wholeid"
)

// sampleColumn is a column of the sample, by its distinct values.
type sampleColumn struct {
	Column
	codes  []int32  // by row
	values []string // by code
	counts []int    // rows of each value
	first  []int    // first row of each value
	empty  int      // rows without any text, which cannot be an id

	moments   []time.Time // by code, for dates
	callable  bool        // calendar functions can read the values
	dates     calendar.Order
	notDate   int           // row of the first value that keeps the column from being one of dates, or -1
	zoned     string        // a time with an offset from UTC, if others have none
	textPart  timepart.Unit // part of a date that is written as a text, see readTextParts
	period    bool          // a count of periods: d_1, d_2, ...
	whole     bool          // all numbers are integers, perhaps written as 7.0
	zeros     int           // rows that are 0
	texts     int           // distinct values that are no numbers
	limits    int           // rows with a limit such as <0.5
	numeric   bool          // numbers, but for a few values
	ambiguous bool          // two formats read its numbers differently
	reason    string        // why it is no mode, if that is known
	covariate bool          // it may be a covariate, as the reason says
}

// readColumns describes every column.
func (g *guesser) readColumns() {
	for i, name := range g.sample.Names {
		c := &sampleColumn{Column: Column{Name: name}, codes: make([]int32, len(g.sample.Rows)), notDate: -1}
		index := map[string]int32{}
		for row, record := range g.sample.Rows {
			value := record[i]
			code, seen := index[value]
			if !seen {
				if code, seen = alikeValue(index, value); seen {
					index[value] = code
				}
			}
			if !seen {
				code = int32(len(c.values))
				index[value] = code
				c.values, c.counts, c.first = append(c.values, value), append(c.counts, 0), append(c.first, row)
			}
			c.codes[row] = code
			c.counts[code]++
			if value == "" {
				c.empty++
			}
		}
		g.columns = append(g.columns, c)
	}
	table := g.numberFormat()
	for _, c := range g.columns {
		c.readNumbers(table, g.sample)
		c.readMoments(g.sample.Headerless)
		c.setKind(len(g.sample.Rows))
		c.findUnit()
	}
}

// alikeValue returns the code of the value that is the same whole number, as 12 is for 12.0.
func alikeValue(index map[string]int32, value string) (code int32, ok bool) {
	if value == "" || value[0] > '9' {
		return 0, false
	}
	if whole := wholeid.Of(value); whole != value {
		code, ok = index[whole]
		return code, ok
	}
	if wholeid.Is(value) {
		code, ok = index[value+".0"]
	}
	return code, ok
}

// readNumbers counts numbers. The column has the format of the table if that reads more of
// its values than plain numbers do.
func (c *sampleColumn) readNumbers(table dataset.NumberFormat, sample Sample) {
	c.count(sample)
	if plain := c.NotNumbers; !table.Plain() {
		c.Numbers = table
		if c.count(sample); c.NotNumbers > plain || c.NotNumbers == plain && plain > 0 {
			c.Numbers = dataset.NumberFormat{}
			c.count(sample)
		}
	}
	present := len(c.codes) - c.Missing
	const fewLevels, rowsPerLevel = 12, 5
	levels := c.Distinct <= fewLevels && 2*c.texts >= c.Distinct && c.NotNumbers >= rowsPerLevel*c.texts // as 0, a, b and c
	bad := c.NotNumbers
	if c.Distinct-c.texts > fewLevels { // otherwise a limit may be a level, as in 1, 2, 3 and >3
		bad -= c.limits
	}
	if bad > max(3, present/20) || 2*bad >= present || bad > 0 && levels { // a column of texts
		if 2*c.NotNumbers > present || columnname.IsID(c.Name) || levels {
			c.NotNumbers, c.NotNumber, c.NotNumberLine = 0, "", 0
		}
		c.countTexts()
		return
	}
	c.numeric = present > 0
	// A format that changes nothing is plain: the values have neither separators nor signs.
	if !c.Numbers.Plain() && numbertext.Plain(c.values) && numbertext.ReadsAlike(c.Numbers, c.values) {
		c.Numbers = dataset.NumberFormat{}
	}
}

// findUnit sets the unit if all values of a column of texts are numbers with the same text after
// them, as in 51.04 kg.
func (c *sampleColumn) findUnit() {
	if c.numeric || c.Kind != KindText && c.Kind != KindID || columnname.IsID(c.Name) || c.Distinct < 2 {
		return
	}
	unit := ""
	for _, value := range c.values {
		if dataset.MissingNumber(value) {
			continue
		}
		end := strings.LastIndexAny(value, "0123456789") + 1
		number := slices.ContainsFunc(numbertext.Formats, func(f dataset.NumberFormat) bool {
			_, kind := f.Parse([]byte(value[:end]))
			return kind == numeric.Finite
		})
		own := strings.TrimSpace(value[end:])
		if !number || own == "" || unit != "" && own != unit {
			return
		}
		unit = own
	}
	c.Unit = unit
}

// percentSigns returns the first rows of a value with a percent sign and of one without, other than
// 0. mixed is true if there are both, so that the unit of the numbers is unknown.
func (c *sampleColumn) percentSigns() (with, without int, mixed bool) {
	with, without = -1, -1
	for code, value := range c.values {
		row := &without
		if strings.HasSuffix(value, "%") {
			row = &with
		} else if numbertext.Exact(c.Numbers, value) == 0 { // missing, not a number, or 0 of any unit
			continue
		}
		if *row < 0 || c.first[code] < *row {
			*row = c.first[code]
		}
	}
	return with, without, c.numeric && with >= 0 && without >= 0
}

// count sets the counts and the range of the numbers.
func (c *sampleColumn) count(sample Sample) {
	c.Distinct, c.Missing, c.NotNumbers, c.zeros, c.texts, c.limits = 0, 0, 0, 0, 0, 0
	c.Min, c.Max, c.Integer, c.whole, c.NotNumber = 0, 0, true, true, ""
	none := true
	firstBad := -1
	for code, value := range c.values {
		parse := c.Numbers.Parse
		if c.Numbers.Plain() {
			parse = numeric.Parse
		}
		_, kind := parse([]byte(value))
		if kind == numeric.Missing {
			c.Missing += c.counts[code]
			continue
		}
		c.Distinct++
		if kind != numeric.Finite {
			c.NotNumbers += c.counts[code]
			c.texts++
			if c.Numbers.LimitSign([]byte(value)) != 0 {
				c.limits += c.counts[code]
			}
			if firstBad < 0 || c.first[code] < firstBad {
				firstBad, c.NotNumber = c.first[code], value
			}
			continue
		}
		v := numbertext.Exact(c.Numbers, value)
		if none {
			c.Min, c.Max, none = v, v, false
		}
		c.Min, c.Max = min(c.Min, v), max(c.Max, v)
		c.Integer = c.Integer && !strings.ContainsAny(value, ".,eE")
		c.whole = c.whole && v == float64(int64(v))
		if v == 0 {
			c.zeros += c.counts[code]
		}
	}
	if firstBad >= 0 && sample.Lines != nil {
		c.NotNumberLine = sample.Lines[firstBad]
	}
	if none || c.NotNumbers > 0 {
		c.Integer, c.whole = false, false
	}
}

// countTexts counts the texts of a column, among which those that stand for a missing number are like others.
func (c *sampleColumn) countTexts() {
	c.Distinct, c.Missing = 0, 0
	for code, value := range c.values {
		if dataset.Missing(value) && !strings.EqualFold(value, "nan") {
			c.Missing += c.counts[code]
		} else {
			c.Distinct++
		}
	}
}

// isFlag reports whether the column has two values that are words of a flag, 0 and 1, or -1 and 1.
func (c *sampleColumn) isFlag() bool {
	var texts []string
	for _, value := range c.values {
		if !dataset.Missing(value) {
			texts = append(texts, strings.TrimSuffix(value, ".0"))
		}
	}
	if len(texts) != 2 {
		return false
	}
	slices.Sort(texts)
	return texts[1] == "1" && (texts[0] == "0" || texts[0] == "-1") || fieldtext.IsFlag(texts[0], texts[1])
}

func (c *sampleColumn) setKind(rows int) {
	repeats := 2*c.Distinct <= rows-c.Missing
	switch {
	case c.moments != nil:
		c.Kind = KindDate
	case c.Distinct > 0 && c.isFlag():
		c.Kind = KindFlag
	case c.numeric && (c.Integer || c.whole && columnname.IsID(c.Name)):
		c.Kind = KindNumber
		if columnname.IsID(c.Name) || repeats && !columnname.IsCovariate(c.Name) {
			c.Kind = KindID
		}
	case c.numeric:
		c.Kind = KindNumber
	case c.period || columnname.IsID(c.Name) || repeats && !fieldtext.SeveralLines(c.values):
		c.Kind = KindID
	default:
		c.Kind = KindText
	}
	if c.Kind == KindDate || c.Kind == KindFlag {
		c.NotNumbers, c.NotNumber, c.NotNumberLine = 0, "", 0
	}
}

// likeCount reports whether integers are distributed like counts: with negative
// numbers, or many zeros.
func (c *sampleColumn) likeCount() bool {
	return c.Min < 0 || c.Distinct > 4 && c.zeros*c.Distinct > 3*len(c.codes)
}

// alikeReason says why numbers that are alike are not used.
const alikeReason = "its numbers are all the same in single precision; subtract their mean, or change their unit, to use them"

// alike reports whether different numbers are one as numbers of single precision, which covariates have.
func (c *sampleColumn) alike() bool {
	return c.numeric && c.Distinct > 1 && float32(c.Min) == float32(c.Max)
}
