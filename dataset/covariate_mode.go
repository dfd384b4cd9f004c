package dataset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
)

// Functions of covariates. Their modes describe a cell and do not identify it.
const (
	numberFunction    = "number"    // of a column of numbers, cut into bins
	levelFunction     = "level"     // of a column of few values, each a level
	covariateFunction = "covariate" // number or level, whichever suits the values
	jointFunction     = "joint"     // joint(lat+lon): the points that several numeric covariates form
	linearFunction    = "linear"    // linear(age+income): the same points, of which lines are learned
	lagFunction       = "lag"       // lag(3): the target of the same series 3 periods before
	periodsFunction   = "periods"   // periods(store+item): training periods of the pair
)

// Ids of covariates without a number.
const (
	MissingID = "NA"   // the value is missing
	NoRowID   = "none" // of a lag: the cell before has no row
)

// MaxLag is the largest lag of a target.
const MaxLag = 10_000

// Covariate reports whether the mode describes a cell rather than identifying it. A
// missing value is an id of its own.
func (m Mode) Covariate() bool {
	return slices.Contains([]string{numberFunction, levelFunction, covariateFunction, jointFunction, linearFunction, lagFunction, periodsFunction}, m.Func)
}

// Numeric reports whether the ids of the mode are numbers, over which a kernel smooths.
func (m Mode) Numeric() bool { return m.Func == numberFunction || m.Derived() }

// Joint reports whether the ids of the mode are points that some numeric covariates form. Its columns are the names
// of these modes, which come before it.
func (m Mode) Joint() bool { return m.Func == jointFunction || m.Linear() }

// Linear reports whether the mode is one of points at which a linear function of their numbers is learned, in place of a
// smooth one.
func (m Mode) Linear() bool { return m.Func == linearFunction }

// Computed reports whether the mode is computed from others or from the training rows, and not made of columns of a table.
func (m Mode) Computed() bool { return m.Derived() || m.Joint() }

// Smooth reports whether a kernel smooths over the ids of the mode, so that a new one has weights too.
func (m Mode) Smooth() bool { return m.Numeric() || m.Joint() }

// JointMode returns the covariate of the points that numeric covariates form.
func JointMode(covariates []string) Mode {
	return Mode{Name: jointFunction, Columns: covariates, Func: jointFunction}
}

// LinearMode returns the covariate of a linear function of numeric covariates.
func LinearMode(covariates []string) Mode {
	return Mode{Name: linearFunction, Columns: covariates, Func: linearFunction}
}

// Members returns the positions, among some modes, of those that form the points of a joint covariate, -1 for one
// that is not a numeric covariate.
func (m Mode) Members(modes []Mode) []int {
	at := make([]int, len(m.Columns))
	for i, name := range m.Columns {
		at[i] = slices.IndexFunc(modes, func(one Mode) bool { return one.Name == name && one.Numeric() })
	}
	return at
}

// pointSeparator separates the numbers of a point in its id.
const pointSeparator = "|"

// Point returns the id of a point, given the ids of the covariates that form it: that of a missing
// value if one of them is missing, unless the mode is linear.
func (m Mode) Point(ids []string) string {
	if !m.Linear() && (slices.Contains(ids, MissingID) || slices.Contains(ids, NoRowID)) {
		return MissingID
	}
	return strings.Join(ids, pointSeparator)
}

// Numbers returns the ids of the covariates that form a point, nil if the id is not one.
func (m Mode) Numbers(id string) []string {
	if parts := strings.Split(id, pointSeparator); len(parts) == len(m.Columns) {
		return parts
	}
	return nil
}

// Open reports whether the values of a covariate decide if it is numeric.
func (m Mode) Open() bool { return m.Func == covariateFunction }

// Decided returns an open covariate as a numeric mode or one of levels.
func (m Mode) Decided(numeric bool) Mode {
	m.Func = levelFunction
	if numeric {
		m.Func = numberFunction
	}
	return m
}

// Derived reports whether the mode is computed from the training rows, not from a
// column of the table.
func (m Mode) Derived() bool { return m.Func == lagFunction || m.Func == periodsFunction }

// Lag returns the distance of a lagged target in periods, 0 for another mode.
func (m Mode) Lag() int {
	if m.Func != lagFunction {
		return 0
	}
	n, _ := strconv.Atoi(m.Columns[0])
	return n
}

// AsCovariate returns the mode of a column as a covariate whose kind is open.
func (m Mode) AsCovariate() Mode {
	m.Func = covariateFunction
	return m
}

// checkLag returns an error if the argument of a lag is not a number of periods.
func (m Mode) checkLag() error {
	if n := m.Lag(); m.Func == lagFunction && (n < 1 || n > MaxLag || m.Columns[0] != strconv.Itoa(n)) {
		return fmt.Errorf("a lag is a whole number of periods from 1 to %d, as in lag(1)", MaxLag)
	}
	return nil
}

// checkFunction returns an error if a mode cannot have the function.
func checkFunction(name string) error {
	if (Mode{Func: name}).Covariate() || name == targetFunction {
		return nil
	}
	return calendar.Check(name)
}

// identifying returns the positions of the modes that identify a cell.
func (t *Table) identifying() []int {
	var at []int
	for m := range t.Codes {
		if m >= len(t.Modes) || !t.Modes[m].Covariate() {
			at = append(at, m)
		}
	}
	return at
}
