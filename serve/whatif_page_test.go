package serve

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/browser"
)

// realReasons explains with the model itself.
type realReasons struct{ m *kft.Model }

func (r realReasons) Explain(ctx context.Context, cells []kft.Cell, changes []string) ([]any, error) {
	opt := kft.ExplainOptions{}
	for _, text := range changes {
		c, err := r.m.ParseChange(text)
		if err != nil {
			return nil, err
		}
		opt.WhatIf = append(opt.WhatIf, c)
	}
	all, err := r.m.Explain(ctx, cells, opt)
	out := make([]any, len(all))
	for i := range all {
		out[i] = all[i]
	}
	return out, err
}

// TestPageWhatIf edits side information on the page: the fields show the present values of
// columns that can be changed, and an unknown level is named.
func TestPageWhatIf(t *testing.T) {
	dir := t.TempDir()
	var rows, items strings.Builder
	rows.WriteString("store,item,time,units\n")
	items.WriteString("item,price,kind\n")
	for i := range 12 {
		fmt.Fprintf(&items, "i%02d,%d,%s\n", i, 1+i%4, []string{"<b>dry</b>", "fresh"}[i%2])
		for s := range 6 {
			for m := range 12 {
				fmt.Fprintf(&rows, "s%d,i%02d,2024-%02d,%.2f\n", s, i, m+1, 20-3*float64(i%4)+float64(s)+math.Sin(float64(m+i*s)))
			}
		}
	}
	replace(t, filepath.Join(dir, "sales.csv"), []byte(rows.String()))
	replace(t, filepath.Join(dir, "items.csv"), []byte(items.String()))
	m, _, err := kft.Fit(t.Context(), kft.Spec{
		Data:  kft.DataSpec{Files: []string{filepath.Join(dir, "sales.csv")}, Target: "units", Modes: []string{"store", "item", "time"}},
		Side:  kft.SideSpec{Tables: []string{"item=" + filepath.Join(dir, "items.csv"), "time=@year,@month:cycle12"}, Variant: "additive"},
		Terms: []string{"store", "item", "time"}, Fit: kft.FitSpec{Sweeps: 5},
	}, kft.Source{}, kft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "sales.kft")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Models: []ModelFile{{Name: "sales", Path: path}}, Explain: func(m *kft.Model) (Explainer, error) { return realReasons{m}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	url, _ := start(t, s)
	tab := browser.Open(t, url)
	tab.WaitFor(`document.querySelector("#mode-1")`)
	tab.Type("#mode-1", "i02")
	tab.Press(browser.Escape)
	tab.Click("#predict")
	tab.WaitFor(`!document.querySelector("#what-if").hidden`)
	const fields = `[...document.querySelectorAll("#change-fields input")].map(i => i.name + " " + i.placeholder).join()`
	if got := browser.Evaluate[string](tab, fields); got != "item.price 3,item.kind <b>dry</b>" {
		t.Errorf("got fields %s, want the columns of the side table with their values", got)
	}
	tab.CheckAccessible()
	tab.Type("#change-0", "1")
	tab.Type("#change-1", "frozen")
	tab.Press(browser.Enter)
	tab.WaitFor(`document.querySelectorAll("#scenario-table tbody tr").length === 2`)
	if got := tab.Text("#scenario-table"); !strings.Contains(got, "item.price=1") || !strings.Contains(got, "no item has frozen") {
		t.Errorf("got scenarios %q", got)
	}
	if got := browser.Evaluate[string](tab, `document.querySelector("#scenario-table tbody tr:last-child").cells[2].textContent`); got == "0" {
		t.Error("the scenario does not differ from the cell as it is")
	}
	tab.CheckConsole()
}
