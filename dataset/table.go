package dataset

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// Counts counts the rows of a table by what was done with them.
type Counts struct {
	Rows       int `json:"rows"`            // data rows read
	Missing    int `json:"missing"`         // dropped: the target is empty, NA, N/A or null
	ZeroWeight int `json:"zero_weight"`     // dropped: the weight is 0, so the row carries no information
	Merged     int `json:"merged"`          // merged into the cell of an earlier row
	NoID       int `json:"no_id,omitempty"` // dropped: an id is empty

	Zeros      int `json:"zeros,omitempty"`       // rows of the value 0 that were added for cells without a row
	ValidZeros int `json:"valid_zeros,omitempty"` // those of the validation set
}

// Table is a list of observations: cell (Codes[0][k], Codes[1][k], ...) has value
// Y[k], weight W[k] and exposure Exposure[k].
type Table struct {
	Modes  []Mode
	Dicts  []*Dict
	Codes  [][]int32 // one slice per mode
	Y      []float32
	W      []float32   // nil without weight column
	Row    []int32     // data row of each observation, counted from 0 over all files; nil if it equals the index
	Part   []Part      // from the part column, or nil
	Merged []MergedRow // rows without an observation of their own
	Counts Counts

	// Low is what rounding to float32 takes from the targets: observation k has the
	// value Y[k] + Low[k]. It is nil unless their distance from 0 is large compared to
	// their differences; then rounding does not matter.
	Low []float32

	// Exposure is positive; nil without such a column.
	Exposure []float32
	// Censored is 1 for a target that is known from below only, else 0; nil without such a
	// column.
	Censored []float32

	// Numbers are those of the numeric covariates whose bins join several numbers, NaN for a missing one; nil for other modes, and in
	// large tables. Points are formed by them.
	Numbers [][]float32

	// NoID is where the first row is that was dropped because an id is empty, as in "line 7,
	// column city"; "" if there is none.
	NoID string

	// Decoded is the number of lines that were not UTF-8 and were read as Windows-1252.
	Decoded int

	// Hash is a SHA-256 of what was read: for each input its header and its
	// decompressed text, by blocks, or its typed values. Compression and the number of
	// threads do not change it.
	Hash [sha256.Size]byte
}

// A MergedRow is a data row that was merged into the observation Into, which an
// earlier row of the same cell created.
type MergedRow struct{ Row, Into int32 }

// Target returns the value of an observation.
func (t *Table) Target(k int) float64 { return TargetAt(t.Y, t.Low, k) }

// TargetAt returns value k of a column of targets and what float32 takes from them,
// which may be nil.
func TargetAt(y, low []float32, k int) float64 {
	if low == nil {
		return float64(y[k])
	}
	return float64(y[k]) + float64(low[k])
}

// Len returns the number of observations.
func (t *Table) Len() int { return len(t.Y) }

// SourceRow returns the data row of an observation.
func (t *Table) SourceRow(k int) int {
	if t.Row == nil {
		return k
	}
	return int(t.Row[k])
}

// ModeIndex returns the index of the mode with a name, or an error that lists the
// modes.
func (t *Table) ModeIndex(name string) (int, error) {
	var names []string
	for m, mode := range t.Modes {
		if mode.Name == name {
			return m, nil
		}
		names = append(names, mode.Name)
	}
	return 0, fmt.Errorf("the table has no mode %q%s; its modes are %s", name, suggest.Hint(name, names), strings.Join(names, ", "))
}

// CellName returns the ids of an observation: store=2106,item=11776.
func (t *Table) CellName(k int32) string {
	var ids []string
	for _, m := range t.identifying() {
		ids = append(ids, t.Modes[m].Name+"="+t.Dicts[m].ID(t.Codes[m][k]))
	}
	return strings.Join(ids, ",")
}
