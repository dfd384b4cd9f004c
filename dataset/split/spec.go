package split

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// Spec specifies how to split a table. See [Parse].
type Spec struct {
	kind    string
	percent [3]float64 // random: train, valid, test; entity: share of valid and of test, each, in [1]
	last    int        // time: periods in each of valid and test
	mode    string     // time, entity: name of the mode; time: "" is the mode of time
	name    string     // column, file: its name

	ahead *partsAhead // file: what ReadAhead reads
}

// forms are examples of every kind of split.
var forms = []string{"random:60/20/20", "time:last=3", "entity:store=10%", "column:part", "file:split.csv"}

// LastPeriods returns the number of periods that a split by time holds out for the test set, and 0 for another split.
func LastPeriods(s string) int {
	parsed, err := Parse(s)
	if err != nil {
		return 0
	}
	return parsed.last
}

// Parse reads one of
//
//	random:60/20/20   percentages of the rows in the training, validation and test
//	                  set; two numbers leave the test set empty
//	time:last=3       the last 3 periods are the test set, the 3 before them the
//	                  validation set; the periods are the ids, in chronological order,
//	                  of the mode of time, or of a mode that is named
//	                  (time:last=3,mode=period)
//	entity:store=10%  all rows of 10 % of the stores are the test set, those of
//	                  another 10 % the validation set
//	column:part       the content of a column: train, valid, test or unused
//	file:F            the same from a file with the header part and one line per row
func Parse(s string) (Spec, error) {
	kind, rest, ok := strings.Cut(s, ":")
	if !ok || rest == "" {
		return Spec{}, fielderr.Errorf("split", "split %q: write it as one of %s", s, strings.Join(forms, ", "))
	}
	spec := Spec{kind: kind}
	var err error
	switch kind {
	case "random":
		err = spec.parsePercents(rest)
	case "time":
		err = spec.parseTime(rest)
	case "entity":
		err = spec.parseEntity(rest)
	case "column", "file":
		spec.name = rest
	default:
		err = fmt.Errorf("unknown kind %q%s; write it as one of %s", kind,
			suggest.Hint(kind, []string{"random", "time", "entity", "column", "file"}), strings.Join(forms, ", "))
	}
	if err != nil {
		return Spec{}, fielderr.Errorf("split", "split %q: %w", s, err)
	}
	return spec, nil
}

func (s *Spec) parsePercents(text string) error {
	parts := strings.Split(text, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return fmt.Errorf("write two or three percentages, as in random:60/20/20")
	}
	sum := 0.0
	for i, part := range parts {
		v, err := strconv.ParseFloat(strings.TrimSuffix(part, "%"), 64)
		if err != nil || !(v >= 0 && v <= 100) {
			return fmt.Errorf("%q is not a percentage; write two or three, as in random:60/20/20", part)
		}
		s.percent[i] = v
		sum += v
	}
	if math.Abs(sum-100) > 1e-9 {
		return fmt.Errorf("the percentages add up to %g; they must add up to 100", sum)
	}
	if s.percent[0] == 0 {
		return fmt.Errorf("the training set is empty; the first percentage must be above 0")
	}
	return nil
}

func (s *Spec) parseTime(text string) error {
	for option := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(option, "=")
		switch key {
		case "last":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return fmt.Errorf("last=%s is not a number of periods; write time:last=3", value)
			}
			s.last = n
		case "mode":
			s.mode = value
		default:
			return fmt.Errorf("unknown option %q; write time:last=3 or time:last=3,mode=month", key)
		}
	}
	if s.last == 0 {
		return fmt.Errorf("the number of periods is missing; write time:last=3")
	}
	return nil
}

func (s *Spec) parseEntity(text string) error {
	mode, share, ok := strings.Cut(text, "=")
	v, err := strconv.ParseFloat(strings.TrimSuffix(share, "%"), 64)
	if !ok || mode == "" || err != nil || !(v > 0 && v < 50) {
		return fmt.Errorf("write a mode and a percentage above 0 and below 50, as in entity:store=10%%")
	}
	s.mode, s.percent[1] = mode, v
	return nil
}

// String returns a text from which Parse makes an equal Spec.
func (s Spec) String() string {
	switch s.kind {
	case "":
		return ""
	case "random":
		return fmt.Sprintf("random:%g/%g/%g", s.percent[0], s.percent[1], s.percent[2])
	case "time":
		if s.mode != "" {
			return fmt.Sprintf("time:last=%d,mode=%s", s.last, s.mode)
		}
		return fmt.Sprintf("time:last=%d", s.last)
	case "entity":
		return fmt.Sprintf("entity:%s=%g%%", s.mode, s.percent[1])
	}
	return s.kind + ":" + s.name
}

// Given reports whether a column or a file says which part a row is in.
func (s Spec) Given() bool { return s.kind == "column" || s.kind == "file" }

// ByTime reports whether the last periods are held out.
func (s Spec) ByTime() bool { return s.kind == "time" }

// Column returns the column that Schema.Part must name before the table is read,
// or "".
func (s Spec) Column() string {
	if s.kind == "column" {
		return s.name
	}
	return ""
}
