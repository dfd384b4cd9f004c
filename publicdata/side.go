package publicdata

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// sideColumn is a column of a side information table.
type sideColumn struct {
	name        string // name in the output
	list        string // names in the list of ids, separated by bars
	invoices    string // names in the invoices
	clean       func(text string) string
	informative bool // counts as side information: an id without any such value has none
}

// location is the last column of a layout. It holds coordinates, used if there
// are no separate columns for latitude and longitude.
const location = "location"

var storeLayout = []sideColumn{
	{name: "name", list: "Name|Store Name", invoices: "Store Name|name"},
	{name: "status", list: "Store Status|status"},
	{name: "address", list: "Address|Store Address", invoices: "Address"},
	{name: "city", list: "City|Store City", invoices: "City", informative: true},
	{name: "county", list: "County|Store County", invoices: "County", informative: true},
	{name: "zip", list: "Zip Code|zip", invoices: "Zip Code", clean: cleanID, informative: true},
	{name: "lat", list: "Latitude|lat", clean: money, informative: true},
	{name: "lon", list: "Longitude|lon", clean: money, informative: true},
	{name: location, list: "Store Location|Location|Store Address", invoices: "Store Location", clean: cleanLocation},
}

var itemLayout = []sideColumn{
	{name: "category_name", list: "Category Name", invoices: "Category Name", informative: true},
	{name: "item_description", list: "Item Description|im_desc", invoices: "Item Description|im_desc"},
	{name: "vendor", list: "Vendor|Vendor Number|vendor_no", invoices: "Vendor Number|vendor_no"},
	{name: "vendor_name", list: "Vendor Name", invoices: "Vendor Name"},
	{name: "bottle_volume_ml", list: "Bottle Volume (ml)", invoices: "Bottle Volume (ml)", clean: money, informative: true},
	{name: "pack", list: "Pack", invoices: "Pack", clean: money, informative: true},
	{name: "inner_pack", list: "Inner Pack", clean: money},
	{name: "age", list: "Age", clean: money},
	{name: "proof", list: "Proof", clean: money},
	{name: "list_date", list: "List Date"},
	{name: "state_bottle_cost", list: "State Bottle Cost", invoices: "State Bottle Cost", clean: money, informative: true},
	{name: "state_case_cost", list: "State Case Cost", clean: money},
	{name: "state_bottle_retail", list: "State Bottle Retail", invoices: "State Bottle Retail", clean: money, informative: true},
}

func cleanID(text string) string { return string(appendID(nil, []byte(text))) }

// cleanLocation drops an address without coordinates.
func cleanLocation(text string) string {
	if _, _, ok := parseLocation(text); !ok {
		return ""
	}
	return text
}

// dated is a value with its date and its position in the files.
type dated struct {
	text string
	day  day
	at   int64
}

// sideRow holds the side information of an id: per column the latest non-empty
// value.
type sideRow []dated

// note stores a value unless a later one is stored. Calls are in file order.
func (row sideRow) note(c int, text []byte, of day, at int64) {
	if v := &row[c]; len(text) > 0 && of >= v.day {
		v.day, v.at = of, at
		if v.text != string(text) {
			v.text = string(text)
		}
	}
}

// merge keeps the later of two values, independent of the order of rows.
func (row sideRow) merge(other sideRow) {
	for c, v := range other {
		if v.text != "" && (v.day > row[c].day || v.day == row[c].day && v.at >= row[c].at) {
			row[c] = v
		}
	}
}

// sideTable holds the side information of the ids of a mode.
type sideTable struct {
	id     string
	layout []sideColumn
	rows   map[string]sideRow
}

// readList reads a list of stores or products. If an id occurs twice, the later
// row takes precedence.
func readList(ctx context.Context, file string, threads int, id column, layout []sideColumn, dropped *reasonCounts) (*sideTable, error) {
	t := &sideTable{id: id.name, layout: layout, rows: map[string]sideRow{}}
	columns := []column{id}
	for _, c := range layout {
		columns = append(columns, column{name: c.name, aliases: c.list})
	}
	var at []int
	type line struct {
		id  string
		row sideRow
	}
	type part struct {
		lines   []line
		dropped reasonCounts
	}
	err := tableio.Scan(ctx, tableio.Files(file), tableio.Format{Header: delimited.HeaderYes}, threads, func(names []string) (err error) {
		at, err = locate(file, names, columns)
		return err
	}, func(_ int, r *tableio.Records) (any, error) {
		p := new(part)
		countBad(&p.dropped, file, r)
		for i := range r.Len() {
			key := cleanID(string(r.Field(i, at[0])))
			if key == "" {
				p.dropped.row("row without an id", file, r.Line(i), nil)
				continue
			}
			row := make(sideRow, len(layout))
			for c, from := range at[1:] {
				if from >= 0 {
					row.note(c, r.Field(i, from), 0, int64(r.Line(i)))
				}
			}
			p.lines = append(p.lines, line{key, row})
		}
		return p, nil
	}, func(result any) error {
		p := result.(*part)
		dropped.merge(&p.dropped)
		for _, l := range p.lines {
			if before, twice := t.rows[l.id]; twice {
				before.merge(l.row)
			} else {
				t.rows[l.id] = l.row
			}
		}
		return nil
	})
	return t, err
}

func countBad(t *reasonCounts, file string, r *tableio.Records) {
	for _, bad := range r.Bad {
		t.add("malformed quotes or wrong number of fields", 1, describeLine(file, bad.Line, nil)+": "+bad.Problem)
	}
}

// finish cleans the values and fills gaps with those of others, which come from
// the invoices.
func (t *sideTable) finish(others map[string]sideRow) {
	for id, row := range t.rows {
		other := others[id]
		for c, column := range t.layout {
			row[c].text = clean(column, row[c].text)
			if row[c].text == "" && other != nil {
				row[c].text = clean(column, other[c].text)
			}
		}
		last := len(t.layout) - 1
		if t.layout[last].name != location {
			continue
		}
		if lat, lon, ok := parseLocation(row[last].text); ok && (row[last-2].text == "" || row[last-1].text == "") {
			row[last-2].text, row[last-1].text = lat, lon
		}
	}
}

func clean(c sideColumn, text string) string {
	text = strings.TrimSpace(strings.NewReplacer("\r\n", " ", "\n", " ").Replace(text))
	if dataset.Missing(text) {
		return ""
	}
	if c.clean != nil {
		return c.clean(text)
	}
	return text
}

// hasSide reports whether an id has side information.
func (t *sideTable) hasSide(id string) bool {
	row, ok := t.rows[id]
	for c, column := range t.layout {
		if ok && column.informative && row[c].text != "" {
			return true
		}
	}
	return false
}

// drop removes ids without side information.
func (t *sideTable) drop() {
	for id := range t.rows {
		if !t.hasSide(id) {
			delete(t.rows, id)
		}
	}
}

// write writes the table, sorted by id in natural order.
func (t *sideTable) write(w io.Writer) error {
	names := []string{t.id}
	for _, c := range t.layout {
		if c.name != location {
			names = append(names, c.name)
		}
	}
	line := appendLine(nil, names)
	ids := make([]string, 0, len(t.rows))
	for id := range t.rows {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, compareNatural)
	for _, id := range ids {
		if _, err := w.Write(line); err != nil {
			return err
		}
		fields := []string{id}
		for _, v := range t.rows[id][:len(names)-1] {
			fields = append(fields, v.text)
		}
		line = appendLine(line[:0], fields)
	}
	_, err := w.Write(line)
	return err
}
