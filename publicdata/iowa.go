package publicdata

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/plural"
)

// Iowa converts "Iowa Liquor Sales", invoices published by the State of Iowa.
type Iowa struct {
	Sales    []string // the invoices, one or more files
	Stores   string   // the list "Iowa Liquor Stores", or ""
	Products string   // the list "Iowa Liquor Products", or ""

	FirstYear, LastYear int
	Threads             int // less than 1 means one per CPU
}

var invoiceColumns = []column{
	{"date", "Date", true},
	{"store", "Store Number|store", true},
	{"item", "Item Number|itemno", true},
	{"bottles", "Bottles Sold|sale_bottles", true},
}

const (
	dateColumn = iota
	storeColumn
	itemColumn
	bottlesColumn
	sideColumns // the columns of stores and then items follow
)

func (o Iowa) salesFile() string {
	if o.FirstYear == o.LastYear {
		return fmt.Sprintf("sales_%d.csv.gz", o.FirstYear)
	}
	return fmt.Sprintf("sales_%d_%d.csv.gz", o.FirstYear, o.LastYear)
}

// Write reads the invoices in one pass and writes three tables and a specification:
//
//	sales_2015_2016.csv.gz  year, month, store, item, bottles: sums, sorted, ids as text
//	stores.csv, items.csv   side information of the ids
//	kft.yaml                a specification for kft fit
//
// The side tables come from the lists. Gaps are filled with the latest value in
// the invoices of these years; without a list, all values come from the invoices.
// Cells whose store or item has no side information are excluded, and so are cells
// where the returned bottles equal or exceed the sold ones.
//
// Memory grows with the cells and ids of these years, about 50 bytes per cell.
func (o Iowa) Write(ctx context.Context, to Folder) (*Report, error) {
	if o.FirstYear > o.LastYear {
		return nil, fmt.Errorf("the years %d-%d are in the wrong order", o.FirstYear, o.LastYear)
	}
	files := []string{o.salesFile(), "stores.csv", "items.csv", specFile}
	if err := to.check(append([]string{o.Stores, o.Products}, o.Sales...), files...); err != nil {
		return nil, err
	}
	s := newInvoices(o)
	for _, list := range []struct {
		file  string
		table **sideTable
		id    column
		side  []sideColumn
	}{
		{o.Stores, &s.storeList, column{"store", "Store Number|store", true}, storeLayout},
		{o.Products, &s.itemList, column{"item", "Item Number|itemno|item", true}, itemLayout},
	} {
		if list.file == "" {
			continue
		}
		var err error
		if *list.table, err = readList(ctx, list.file, o.Threads, list.id, list.side, &s.listDropped); err != nil {
			return nil, err
		}
	}
	for i, file := range o.Sales {
		if err := s.read(ctx, file, i); err != nil {
			return nil, err
		}
	}
	s.join()
	return s.write(to, files)
}

// write aggregates, sorts and writes the tables.
func (s *invoices) write(to Folder, files []string) (*Report, error) {
	report := &Report{Read: s.rows, Dropped: s.dropped.sorted(), Facts: nil}
	for _, r := range s.listDropped.sorted() {
		report.Facts = append(report.Facts, fmt.Sprintf("Skipped %s of the lists: %s (first: %s).", plural.Count(r.Rows, "row"), r.Text, r.First))
	}
	stores := s.side(s.storeList, "store", storeLayout, &s.stores)
	items := s.side(s.itemList, "item", itemLayout, &s.items)
	cells, left := s.cells(stores, items)
	report.Excluded = left.sorted()
	if len(cells) == 0 {
		return nil, fmt.Errorf("none of the %d rows gives a cell for the years %d to %d%s", s.rows, s.FirstYear, s.LastYear, firstReason(report))
	}
	storeIDs, itemIDs := used(cells, s.stores.ids, func(c cell) int32 { return c.store }), used(cells, s.items.ids, func(c cell) int32 { return c.item })
	err := to.write(files, func(w []io.Writer) error {
		if err := s.writeCells(w[0], cells); err != nil {
			return err
		}
		if err := stores.write(w[1]); err != nil {
			return err
		}
		if err := items.write(w[2]); err != nil {
			return err
		}
		_, err := io.WriteString(w[3], fmt.Sprintf(iowaSpec, files[0]))
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, about := range []struct {
		rows  int
		about string
	}{
		{len(cells), fmt.Sprintf("%d stores, %d items", storeIDs, itemIDs)},
		{len(stores.rows), "side information of the stores"},
		{len(items.rows), "side information of the items"},
		{0, "a specification for kft fit"},
	} {
		report.Written = append(report.Written, OutputFile{filepath.Join(to.Path, files[i]), about.rows, about.about})
	}
	return report, nil
}

func firstReason(r *Report) string {
	for _, reasons := range [][]Reason{r.Dropped, r.Excluded} {
		if len(reasons) > 0 {
			return fmt.Sprintf("; most frequent reason: %s (%s)", reasons[0].Text, reasons[0].First)
		}
	}
	return ""
}

// side returns the side information of a mode: the list with its gaps filled, or
// the values of the invoices.
func (s *invoices) side(list *sideTable, id string, layout []sideColumn, from *idRows) *sideTable {
	others := map[string]sideRow{}
	for k, key := range from.ids {
		others[key] = from.side[k]
	}
	if list == nil {
		list = &sideTable{id: id, layout: layout, rows: others}
		list.finish(nil)
		list.drop()
		return list
	}
	list.finish(others)
	return list
}

// cells returns the remaining sums in the order of the file, and counts the
// excluded ones.
func (s *invoices) cells(stores, items *sideTable) ([]cell, *reasonCounts) {
	left := new(reasonCounts)
	storeKnown, storeRank := known(stores, s.stores.ids), ranks(s.stores.ids)
	itemKnown, itemRank := known(items, s.items.ids), ranks(s.items.ids)
	cells := make([]cell, 0, len(s.sums))
	for key, bottles := range s.sums {
		c := cell{month: int32(key >> 48), store: int32(key >> 24 & 0xffffff), item: int32(key & 0xffffff), bottles: bottles}
		switch {
		case !storeKnown[c.store]:
			left.add("no side information for the store", 1, "")
		case !itemKnown[c.item]:
			left.add("no side information for the item", 1, "")
		case bottles <= 0:
			left.add("sold minus returned bottles are 0 or less", 1, "")
		default:
			cells = append(cells, c)
		}
	}
	slices.SortFunc(cells, func(a, b cell) int {
		if a.month != b.month {
			return int(a.month - b.month)
		}
		if a.store != b.store {
			return int(storeRank[a.store] - storeRank[b.store])
		}
		return int(itemRank[a.item] - itemRank[b.item])
	})
	return cells, left
}

func known(t *sideTable, ids []string) []bool {
	out := make([]bool, len(ids))
	for k, id := range ids {
		out[k] = t.hasSide(id)
	}
	return out
}

// ranks returns the position of each id in sorted order.
func ranks(ids []string) []int32 {
	order := make([]int32, len(ids))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return strings.Compare(ids[a], ids[b]) })
	rank := make([]int32, len(ids))
	for place, k := range order {
		rank[k] = int32(place)
	}
	return rank
}

// used counts the ids that occur in cells.
func used(cells []cell, ids []string, of func(cell) int32) int {
	seen, n := make([]bool, len(ids)), 0
	for _, c := range cells {
		if !seen[of(c)] {
			seen[of(c)] = true
			n++
		}
	}
	return n
}

func (s *invoices) writeCells(w io.Writer, cells []cell) error {
	line := []byte("year,month,store,item,bottles\n")
	for _, c := range cells {
		if _, err := w.Write(line); err != nil {
			return err
		}
		line = strconv.AppendInt(line[:0], int64(s.FirstYear)+int64(c.month)/12, 10)
		line = append(line, ',')
		line = strconv.AppendInt(line, int64(c.month)%12+1, 10)
		line = append(line, ',')
		line = appendField(line, s.stores.ids[c.store])
		line = append(line, ',')
		line = appendField(line, s.items.ids[c.item])
		line = append(line, ',')
		line = strconv.AppendInt(line, c.bottles, 10)
		line = append(line, '\n')
	}
	_, err := w.Write(line)
	return err
}
