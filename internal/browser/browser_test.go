package browser

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const good = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Page</title>
<main><h1>Page</h1><label for="name">Name</label> <input id="name">
<button id="add" onclick="document.getElementById('said').textContent='hello '+document.getElementById('name').value">Greet</button>
<p id="said" style="color:#555"></p><svg role="img" aria-label="A circle" width="9" height="9"><circle r="4"/></svg>
<script>document.getElementById("name").addEventListener("keydown", e => { if (e.key === "Escape") e.target.value = "" })</script></main>`

const bad = `<!doctype html><main><h2>Page</h2><input id="x"><button id="x"></button><p style="color:#ccc">faint</p>
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="><table><tr><td>1</table><div style="width:3000px">wide</div>
<script>console.error("broken"); null.field</script></main>`

func serve(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/good":
			io.WriteString(w, good)
		case "/bad":
			io.WriteString(w, bad)
		case "/favicon.ico":
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestTab(t *testing.T) {
	s := serve(t)
	tab := Open(t, s.URL+"/good")
	tab.Type("#name", "world")
	tab.Click("#add")
	tab.WaitFor(`document.getElementById("said").textContent !== ""`)
	if got := tab.Text("#said"); got != "hello world" {
		t.Errorf("text: %q", got)
	}
	tab.Type("#name", "x")
	tab.Press(Escape)
	if got := Evaluate[string](tab, `document.getElementById("name").value`); got != "" {
		t.Errorf("after escape: %q", got)
	}
	tab.Viewport(360, 740)
	if got := Evaluate[int](tab, "innerWidth"); got != 360 {
		t.Errorf("width: %d", got)
	}
	tab.ColorScheme("dark")
	if !Evaluate[bool](tab, `matchMedia("(prefers-color-scheme: dark)").matches`) {
		t.Error("the color scheme is not dark")
	}
	tab.Screenshot(filepath.Join(t.TempDir(), "page.png"))
	tab.CheckAccessible()
	tab.CheckConsole()

	tab.Navigate(s.URL + "/bad")
	tab.ColorScheme("light")
	problems := strings.Join(tab.Accessibility(), "\n")
	for _, want := range []string{"contrast 1.61", "control without a name: input#x", "control without a name: button#x", "picture without a name: img", "table without header cells",
		"table without a caption", "no language", "no title", "viewport", "exactly one h1", "heading h2 after h0", "id is repeated: x", "pixels wide"} {
		if !strings.Contains(problems, want) {
			t.Errorf("the problems do not contain %q:\n%s", want, problems)
		}
	}
	tab.WaitFor("true")
	if console := tab.Console(); !slices.ContainsFunc(console, func(m string) bool { return strings.Contains(m, "broken") }) ||
		!slices.ContainsFunc(console, func(m string) bool { return strings.Contains(m, "TypeError") }) {
		t.Errorf("console: %q", console)
	}
}
