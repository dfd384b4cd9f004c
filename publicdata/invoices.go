package publicdata

import (
	"context"
	"fmt"
	"runtime"

	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// cell is a sum of bottles. Months count from January of the first year.
type cell struct {
	month, store, item int32
	bottles            int64
}

// idRows assigns codes to ids and holds the side information from the invoices.
type idRows struct {
	code map[string]int32
	ids  []string
	side []sideRow
	sent int // number of ids already passed to the sums
}

func newIDRows() idRows { return idRows{code: map[string]int32{}} }

// find returns the code of an id, and assigns one if it is new.
func (r *idRows) find(id []byte, columns int) int32 {
	code, ok := r.code[string(id)]
	if !ok {
		code = int32(len(r.ids))
		r.ids = append(r.ids, string(id))
		r.code[r.ids[code]] = code
		r.side = append(r.side, make(sideRow, columns))
	}
	return code
}

// fresh returns the ids added since the last call.
func (r *idRows) fresh() []string {
	ids := r.ids[r.sent:]
	r.sent = len(r.ids)
	return ids
}

// invoices aggregates rows as they are read.
type invoices struct {
	Iowa
	rows          int
	dropped       reasonCounts
	listDropped   reasonCounts
	sums          map[uint64]int64 // bottles by month, store and item
	stores, items idRows
	storeList     *sideTable
	itemList      *sideTable
	columns       []column
	workers       []*invoiceWorker
}

// invoiceWorker parses rows with its own id codes, so that workers do not wait for
// each other. The maps translate them to the codes of the sums.
type invoiceWorker struct {
	stores, items   idRows
	id              []byte
	toStore, toItem []int32 // from the worker's codes to those of the sums
}

// invoicePart is the result of a worker for a block of rows.
type invoicePart struct {
	worker              *invoiceWorker
	rows                int
	dropped             reasonCounts
	newStores, newItems []string
	cells               []cell
}

func newInvoices(o Iowa) *invoices {
	s := &invoices{Iowa: o, sums: map[uint64]int64{}, stores: newIDRows(), items: newIDRows()}
	s.columns = append(s.columns, invoiceColumns...)
	for _, layout := range [][]sideColumn{storeLayout, itemLayout} {
		for _, c := range layout {
			s.columns = append(s.columns, column{name: c.name, aliases: c.invoices})
		}
	}
	if s.Threads < 1 {
		s.Threads = runtime.GOMAXPROCS(0)
	}
	for range s.Threads {
		s.workers = append(s.workers, &invoiceWorker{stores: newIDRows(), items: newIDRows()})
	}
	return s
}

// read adds the rows of a file. Blocks of rows are parsed in parallel and added in
// order.
func (s *invoices) read(ctx context.Context, file string, number int) error {
	var at []int
	return tableio.Scan(ctx, tableio.Files(file), tableio.Format{Header: delimited.HeaderYes}, s.Threads, func(names []string) (err error) {
		at, err = locate(file, names, s.columns)
		return err
	}, func(worker int, r *tableio.Records) (any, error) {
		w := s.workers[worker]
		p := &invoicePart{worker: w, rows: r.Len() + len(r.Bad)}
		countBad(&p.dropped, file, r)
		for i := range r.Len() {
			s.parse(w, p, file, r, i, at, int64(number)<<40)
		}
		p.newStores, p.newItems = w.stores.fresh(), w.items.fresh()
		return p, nil
	}, func(result any) error { return s.add(result.(*invoicePart)) })
}

// parse parses one row, or counts the reason for skipping it. A field is valid
// until the next one is requested.
func (s *invoices) parse(w *invoiceWorker, p *invoicePart, file string, r *tableio.Records, i int, at []int, before int64) {
	field := r.Field(i, at[dateColumn])
	date, ok := parseDay(field)
	if !ok {
		p.dropped.row("date missing or invalid", file, r.Line(i), field)
		return
	}
	if year := date.year(); year < s.FirstYear || year > s.LastYear {
		p.dropped.row("outside the requested years", file, r.Line(i), field)
		return
	}
	field = r.Field(i, at[bottlesColumn])
	bottles, ok := parseCount(field)
	if !ok {
		p.dropped.row("bottles missing or not an integer", file, r.Line(i), field)
		return
	}
	c := cell{month: int32(12*(date.year()-s.FirstYear) + date.month() - 1), bottles: bottles}
	w.id = appendID(w.id[:0], r.Field(i, at[storeColumn]))
	store := len(w.id)
	w.id = appendID(w.id, r.Field(i, at[itemColumn]))
	switch {
	case store == 0:
		p.dropped.row("store number missing", file, r.Line(i), nil)
		return
	case len(w.id) == store:
		p.dropped.row("item number missing", file, r.Line(i), nil)
		return
	}
	c.store = w.stores.find(w.id[:store], len(storeLayout))
	c.item = w.items.find(w.id[store:], len(itemLayout))
	p.cells = append(p.cells, c)
	place := before + int64(r.Line(i))
	note(w.stores.side[c.store], r, i, at[sideColumns:sideColumns+len(storeLayout)], date, place)
	note(w.items.side[c.item], r, i, at[sideColumns+len(storeLayout):], date, place)
}

func note(row sideRow, r *tableio.Records, i int, at []int, date day, place int64) {
	for c, from := range at {
		if from >= 0 {
			row.note(c, r.Field(i, from), date, place)
		}
	}
}

// add adds a part to the sums.
func (s *invoices) add(p *invoicePart) error {
	s.rows += p.rows
	s.dropped.merge(&p.dropped)
	w := p.worker
	for _, id := range p.newStores {
		w.toStore = append(w.toStore, s.stores.find([]byte(id), len(storeLayout)))
	}
	for _, id := range p.newItems {
		w.toItem = append(w.toItem, s.items.find([]byte(id), len(itemLayout)))
	}
	if len(s.stores.ids) > 0xffffff || len(s.items.ids) > 0xffffff {
		return fmt.Errorf("more than %d stores or items; check that these are liquor sales", 0xffffff)
	}
	for _, c := range p.cells {
		s.sums[uint64(c.month)<<48|uint64(w.toStore[c.store])<<24|uint64(w.toItem[c.item])] += c.bottles
	}
	return nil
}

// join merges the side information of the workers after all rows were read.
func (s *invoices) join() {
	for _, w := range s.workers {
		for k, row := range w.stores.side {
			s.stores.side[w.toStore[k]].merge(row)
		}
		for k, row := range w.items.side {
			s.items.side[w.toItem[k]].merge(row)
		}
	}
}
