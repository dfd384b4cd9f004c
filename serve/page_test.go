package serve

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/browser"
)

// TestPage uses the page as a person does: by mouse, by keyboard, on a phone, in the
// dark.
func TestPage(t *testing.T) {
	s := newServer(t, func(o *Options) {
		o.Explain = fakeExplain
		o.Models[0].History = []string{writeTable(t)}
		o.Models = append(o.Models, ModelFile{Name: "other", Path: writeModel(t, 1)})
	})
	answer[any](t, s, "POST", "/outcomes", `{"model":"sales",`+outcomesFor(t, s, 300, 3, 1)[1:])
	url, _ := start(t, s)
	tab := browser.Open(t, url)
	tab.WaitFor(`document.querySelector("#monitor table")`)
	if got := tab.Text("#alarms"); !strings.Contains(got, "sales, all: coverage+bias") {
		t.Errorf("alarms: %q", got)
	}
	tab.CheckAccessible()

	// By keyboard: type, choose the third suggestion, submit.
	tab.Type("#mode-0", "s1")
	tab.WaitFor(suggested("mode-0", "s1"))
	tab.CheckAccessible()
	for range 4 {
		tab.Press(browser.Down)
	}
	tab.Press(browser.Up)
	tab.WaitFor(`document.querySelector("#mode-0").getAttribute("aria-activedescendant") === "mode-0-list-2"`)
	tab.Press(browser.Enter)
	tab.WaitFor(`document.querySelector("#mode-0").value === "s11" && document.querySelector("#mode-0-list").hidden`)
	tab.Press(browser.Enter)
	tab.WaitFor(`!document.querySelector("#prediction").hidden && !document.querySelector("#reasons").hidden && document.querySelector("#series-chart svg")`)
	if got := tab.Text("#sentence"); !strings.Contains(got, "store s11") || !strings.Contains(got, "90 % probability") {
		t.Errorf("sentence: %q", got)
	}
	for css, want := range map[string]string{"#waterfall": "store s11", "#neighbours": "Nearest to store s11", "#series-table": "2015-1"} {
		if got := tab.Text(css); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not contain %q", css, got, want)
		}
	}
	if n := browser.Evaluate[int](tab, `document.querySelectorAll("#distribution rect").length`); n < 20 {
		t.Errorf("the distribution has %d steps", n)
	}
	if n := browser.Evaluate[int](tab, `document.querySelectorAll("#series-chart circle").length`); n == 0 {
		t.Error("the chart shows no observed values")
	}
	tab.CheckAccessible()

	// By mouse: a suggestion, a scenario, another one, the difference.
	tab.Click("#keep")
	tab.Type("#mode-1", "i2")
	tab.WaitFor(suggested("mode-1", "i2"))
	tab.Click("#mode-1-list li:nth-child(3)")
	tab.WaitFor(`document.querySelector("#mode-1").value === "i21"`)
	tab.Click("#predict")
	tab.WaitFor(`document.querySelector("#sentence").textContent.includes("item i21")`)
	tab.Click("#keep")
	tab.WaitFor(`document.querySelectorAll("#scenario-table tbody tr").length === 2`)
	tab.CheckAccessible()
	tab.Click("#forget")
	tab.WaitFor(`document.querySelector("#scenarios").hidden`)

	// An unknown id is predicted and named.
	tab.Type("#mode-0", "nowhere")
	tab.Press(browser.Escape)
	tab.Click("#predict")
	tab.WaitFor(`document.querySelector("#known").textContent.includes("does not know this store")`)

	// Another model.
	browser.Evaluate[any](tab, `(() => { const m = document.querySelector("#model"); m.value = "other"; m.dispatchEvent(new Event("change")); })()`)
	tab.WaitFor(`document.querySelector("#prediction").hidden`)
	tab.Click("#predict")
	tab.WaitFor(`!document.querySelector("#prediction").hidden`)

	tab.ColorScheme("dark")
	tab.CheckAccessible()
	tab.Viewport(360, 740)
	tab.CheckAccessible()
	tab.CheckConsole()
}

// TestPageUpdate takes an observed value into the model and out again.
func TestPageUpdate(t *testing.T) {
	s := newServer(t, func(o *Options) {
		o.Updates = UpdatesMemory
		o.Models = append(o.Models, ModelFile{Name: "other", Path: writeModel(t, 1)})
	})
	url, _ := start(t, s)
	tab := browser.Open(t, url)
	tab.WaitFor(`document.querySelector("#mode-0")`)
	tab.Type("#mode-0", "s1")
	tab.Press(browser.Escape)
	tab.Click("#predict")
	tab.WaitFor(`!document.querySelector("#update").hidden && document.querySelector("#series-chart svg")`)
	about, before := tab.Text("#about"), tab.Text("#sentence")
	tab.CheckAccessible()

	tab.Type("#value", "500")
	tab.Press(browser.Enter)
	tab.WaitFor(`document.querySelector("#moved").textContent.includes("was added to the model") && !document.querySelector("#undo").hidden`)
	if got := tab.Text("#moved"); !strings.Contains(got, "units 500 was added to the model. The mean moved from ") {
		t.Errorf("moved: %q", got)
	}
	if got := browser.Evaluate[string](tab, `document.querySelector("#moved-table tbody tr td:last-child").textContent`); got == "" || strings.HasPrefix(got, "-") || strings.HasPrefix(got, "−") || got == "0" {
		t.Errorf("the mean changed by %q, want an increase", got)
	}
	if tab.Text("#sentence") == before || tab.Text("#about") == about {
		t.Error("the page shows the prediction or the version of the model before the update")
	}
	tab.CheckAccessible()

	tab.Click("#undo")
	tab.WaitFor(`document.querySelector("#moved").textContent.includes("was taken out again") && document.querySelector("#undo").hidden`)
	if got := tab.Text("#sentence"); got != before {
		t.Errorf("after the value was taken out: %q, want %q", got, before)
	}

	// A value that the target cannot have is refused, and nothing moves.
	tab.Type("#value", "-5")
	tab.Press(browser.Enter)
	tab.WaitFor(`document.querySelector("#problem").textContent !== ""`)
	if got := tab.Text("#sentence"); got != before {
		t.Errorf("after a refused value: %q, want %q", got, before)
	}
	// The only message is that of the refused request.
	if console := tab.Console(); len(console) != 1 || !strings.Contains(console[0], "400") {
		t.Errorf("console: %q", console)
	}

	// Without updates there is no form.
	quiet, _ := start(t, newServer(t, nil))
	tab = browser.Open(t, quiet)
	tab.WaitFor(`document.querySelector("#mode-0")`)
	tab.Click("#predict")
	tab.WaitFor(`!document.querySelector("#prediction").hidden`)
	if !browser.Evaluate[bool](tab, `document.querySelector("#update").hidden`) {
		t.Error("the page offers updates that the server refuses")
	}
	tab.CheckConsole()
}

// suggested is true when the suggestions for a whole text are shown: those for its first
// letters come before.
func suggested(id, text string) string {
	return fmt.Sprintf(`(items => items.length > 3 && items.every(i => i.textContent.startsWith(%q)))([...document.querySelectorAll("#%s-list:not([hidden]) li")])`, text, id)
}

// TestPageToken checks that the page asks for a token and then works. With KFT_SCREENSHOT it
// writes the picture of the documentation to that path.
func TestPageToken(t *testing.T) {
	s := newServer(t, func(o *Options) {
		o.Token = "secret-token"
		o.Models[0].History = []string{writeTable(t)}
	})
	answer[any](t, s, "POST", "/outcomes", outcomesFor(t, s, 300, 1, 1), "Authorization", "Bearer secret-token")
	url, _ := start(t, s)
	tab := browser.Open(t, url)
	tab.WaitFor(`!document.querySelector("#token-form").hidden`)
	tab.CheckAccessible()
	tab.Type("#token", "secret-token")
	tab.Press(browser.Enter)
	tab.WaitFor(`document.querySelector("#mode-0")`)
	tab.Type("#mode-0", "s11")
	tab.Press(browser.Escape)
	tab.Click("#predict")
	tab.WaitFor(`!document.querySelector("#prediction").hidden && document.querySelector("#series-chart svg")`)
	if path := os.Getenv("KFT_SCREENSHOT"); path != "" {
		tab.Click("#keep")
		tab.Viewport(1000, 1640)
		browser.Evaluate[any](tab, `(document.activeElement.blur(), scrollTo(0, 0))`)
		tab.WaitFor("scrollY === 0")
		tab.Screenshot(path)
	}
	if got := tab.Text("#problem"); got != "" {
		t.Errorf("problem: %q", got)
	}
	// The first request without a token is the only message.
	if console := tab.Console(); len(console) != 1 || !strings.Contains(console[0], "401") {
		t.Errorf("console: %q", console)
	}
}
