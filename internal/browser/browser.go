// Package browser tests pages in a real browser: Debian's chromium, driven by
// chromedp. Only tests import it.
//
// A test opens a page, acts on it as a user does (clicks, types, presses keys), waits
// for what the page shows, and at the end asserts that the page is accessible and that
// the console has no errors:
//
//	tab := browser.Open(t, server.URL)
//	tab.Type("#store", "2106")
//	tab.Press(browser.Enter)
//	tab.WaitFor(`document.querySelector("#mean").textContent !== ""`)
//	tab.CheckAccessible()
//	tab.CheckConsole()
package browser

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Keys for [Tab.Press].
const (
	Enter  = kb.Enter
	Escape = kb.Escape
	TabKey = kb.Tab
	Down   = kb.ArrowDown
	Up     = kb.ArrowUp
	End    = kb.End
	Home   = kb.Home
)

// patience limits each action. It is only reached when a test fails.
const patience = 30 * time.Second

// names are the programs to look for, in order. KFT_CHROMIUM names another one.
var names = []string{"chromium", "chromium-browser", "google-chrome", "chrome", "chrome-headless-shell"}

// A Tab is a page in a browser of its own, which ends with the test. Its methods end the
// test if the browser fails.
type Tab struct {
	tb  testing.TB
	ctx context.Context

	mutex    sync.Mutex
	problems []string
}

// Open starts a browser without a window, opens the page and waits until it is loaded.
// It skips the test if there is no browser on this machine.
func Open(tb testing.TB, url string) *Tab {
	tb.Helper()
	path := find()
	if path == "" {
		tb.Skipf("no browser: none of %s is installed, and KFT_CHROMIUM is not set", strings.Join(names, ", "))
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(tb.TempDir()),
		chromedp.NoSandbox, // chromium refuses to run as root with its sandbox; the pages are our own
		chromedp.DisableGPU, chromedp.WindowSize(1280, 900),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"), // nothing but this machine
		chromedp.Flag("disable-background-networking", true),
	)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	tb.Cleanup(func() {
		cancel()
		stop()
	})
	t := &Tab{tb: tb, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil { // starts the browser, without a time limit that would end it
		tb.Fatalf("the browser %s does not start: %v", path, err)
	}
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleWarning || m.IsException() {
				t.mutex.Lock()
				t.problems = append(t.problems, m.String()+" ("+m.URL+")")
				t.mutex.Unlock()
			}
		}
	}()
	t.Navigate(url)
	return t
}

func find() string {
	if path := os.Getenv("KFT_CHROMIUM"); path != "" {
		return path
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// run runs one action within the time limit.
func run[T any](t *Tab, what string, action chromedp.Action[T]) T {
	t.tb.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		t.tb.Fatalf("browser: %s: %v\nconsole: %s", what, err, strings.Join(t.Console(), "\n"))
	}
	return value
}

// Navigate opens another page in the tab and waits until it is loaded.
func (t *Tab) Navigate(url string) {
	t.tb.Helper()
	run(t, "open "+url, chromedp.Navigate(url))
}

// Click clicks on the first element that the CSS selector matches, when it is visible and
// nothing covers its middle. Test and click are one step of the page: a mouse moved by the
// browser's protocol misses an element that the page moves in between.
func (t *Tab) Click(css string) {
	t.tb.Helper()
	run(t, "click "+css, chromedp.Poll[chromedp.Void](`(() => {
		const e = document.querySelector(`+quote(css)+`);
		if (!e || e.disabled) return false;
		e.scrollIntoView({ block: "center", behavior: "instant" });
		const r = e.getBoundingClientRect();
		const hit = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
		if (!hit || !e.contains(hit)) return false;
		const options = { bubbles: true, cancelable: true, composed: true, view: window };
		if (hit.dispatchEvent(new PointerEvent("pointerdown", options))) e.focus({ preventScroll: true });
		hit.dispatchEvent(new PointerEvent("pointerup", options));
		if (hit.isConnected) hit.dispatchEvent(new MouseEvent("click", options)); // elements of SVG have no click()
		return true;
	})()`, chromedp.WithPollingTimeout(patience)))
}

// Type focuses a field, removes its text and types another.
func (t *Tab) Type(css, text string) {
	t.tb.Helper()
	run(t, "clear "+css, chromedp.Evaluate[chromedp.Void](`(() => { const e = document.querySelector(`+quote(css)+`); e.focus(); e.select && e.select(); })()`))
	if text == "" {
		t.Press(kb.Delete)
		return
	}
	run(t, "type in "+css, chromedp.KeyEvent(text))
}

// Press presses keys on the element that has the focus.
func (t *Tab) Press(keys string) {
	t.tb.Helper()
	run(t, "press a key", chromedp.KeyEvent(keys))
}

// Text returns the text of the first element that the CSS selector matches.
func (t *Tab) Text(css string) string {
	t.tb.Helper()
	return run(t, "text of "+css, chromedp.TextContent(chromedp.CSS(css)))
}

// WaitFor waits until a JavaScript expression is true.
func (t *Tab) WaitFor(expression string) {
	t.tb.Helper()
	run(t, "wait for "+expression, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(patience)))
}

// Evaluate returns the value of a JavaScript expression.
func Evaluate[T any](t *Tab, expression string) T {
	t.tb.Helper()
	return run(t, "evaluate "+expression, chromedp.Evaluate[T](expression))
}

// Viewport sets the size of the page in pixels: 360 x 740 is a phone.
func (t *Tab) Viewport(width, height int) {
	t.tb.Helper()
	run(t, "set the size", chromedp.EmulateViewport(int64(width), int64(height)))
}

// ColorScheme sets what the user prefers: light or dark.
func (t *Tab) ColorScheme(scheme string) {
	t.tb.Helper()
	t.media("color scheme "+scheme, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// PrintMedia shows the page as it would be printed.
func (t *Tab) PrintMedia() {
	t.tb.Helper()
	t.media("print", emulation.SetEmulatedMediaParams{Media: "print"})
}

func (t *Tab) media(what string, params emulation.SetEmulatedMediaParams) {
	t.tb.Helper()
	run(t, what, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, params)
		return err
	}))
}

// Screenshot writes a PNG image of what the tab shows.
func (t *Tab) Screenshot(path string) {
	t.tb.Helper()
	image := run(t, "screenshot", chromedp.CaptureScreenshot())
	if err := os.WriteFile(path, image, 0o644); err != nil {
		t.tb.Fatal(err)
	}
}

// Console returns the errors, warnings and exceptions of the console so far.
func (t *Tab) Console() []string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return append([]string(nil), t.problems...)
}

// CheckConsole fails the test if the console has errors, warnings or exceptions.
func (t *Tab) CheckConsole() {
	t.tb.Helper()
	if problems := t.Console(); len(problems) > 0 {
		t.tb.Errorf("the console has messages:\n%s", strings.Join(problems, "\n"))
	}
}
