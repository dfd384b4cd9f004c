package dataset

// targetFunction is that of the mode of several targets, target(units+revenue): its ids
// are the names of the target columns, and each row of the table is one observation per
// column.
const targetFunction = "target"

// TargetMode returns the mode of several targets.
func TargetMode(columns []string) Mode {
	return Mode{Name: targetFunction, Columns: columns, Func: targetFunction}
}

// Target reports whether the mode is that of several targets. It identifies a cell, but
// is no column of the table.
func (m Mode) Target() bool { return m.Func == targetFunction }
