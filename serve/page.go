package serve

import (
	"embed"
	"net/http"
	"path"
	"strings"
)

//go:embed page
var pageFolder embed.FS

// pageFiles are the files of the page, beside index.html.
var pageFiles = []string{"style.css", "page.js", "api.js", "combobox.js", "charts.js", "monitor.js", "update.js", "icon.svg"}

var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// pageFile answers requests for the page and its files. They contain nothing of a model
// and need no token.
func (s *Server) pageFile(w http.ResponseWriter, r *http.Request) error {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	text, err := pageFolder.ReadFile("page/" + name)
	if err != nil {
		return err // pageFiles has a name that does not exist
	}
	h := w.Header()
	h.Set("Content-Type", mediaTypes[path.Ext(name)])
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
	_, err = w.Write(text)
	return err
}
