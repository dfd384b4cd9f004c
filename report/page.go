package report

import (
	"embed"
	"encoding/json"
	"html/template"
	"io"

	"github.com/kernel-fried-tensor/kft/internal/figure"
)

//go:embed assets
var assets embed.FS

// write writes the page.
func (p *page) write(w io.Writer) error {
	t, err := template.ParseFS(assets, "assets/page.html")
	if err != nil {
		return err
	}
	style, err := assets.ReadFile("assets/page.css")
	if err != nil {
		return err
	}
	script, err := assets.ReadFile("assets/page.js")
	if err != nil {
		return err
	}
	entities, err := json.Marshal(p.Entities) // escapes < and >, so that it cannot end its element
	if err != nil {
		return err
	}
	type drawn struct {
		block
		SVG template.HTML
	}
	type chapter struct {
		ID, Title string
		Blocks    []drawn
	}
	view := struct {
		*page
		Sections     []chapter
		Style        template.CSS
		Script       template.JS
		EntitiesJSON template.JS
	}{page: p, Style: template.CSS(string(style) + figure.Style), Script: template.JS(script), EntitiesJSON: template.JS(entities)}
	for _, s := range p.Sections {
		c := chapter{ID: s.ID, Title: s.Title}
		for _, b := range s.Blocks {
			d := drawn{block: b}
			if b.Figure != nil {
				d.SVG = template.HTML(b.Figure.Inline()) // package figure escapes its texts
			}
			c.Blocks = append(c.Blocks, d)
		}
		view.Sections = append(view.Sections, c)
	}
	return t.Execute(w, view)
}
