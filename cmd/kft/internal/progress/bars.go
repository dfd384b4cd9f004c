package progress

import (
	"io"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
)

// bars shows one bar per stage. That of training also shows sweep, loss, R2, rate and
// remaining time.
type bars struct {
	p      *mpb.Progress
	stages map[string]string
	pace   pace
	bar    *mpb.Bar
	text   *atomic.Pointer[string] // next to the current bar
}

func newBars(w io.Writer, stages map[string]string, budget time.Duration) *bars {
	return &bars{
		p:      mpb.New(mpb.WithOutput(w), mpb.WithAutoRefresh(), mpb.WithRefreshRate(120*time.Millisecond)),
		stages: stages,
		pace:   pace{now: time.Now, budget: budget},
	}
}

func (b *bars) Event(e kft.Event) {
	switch {
	case e.Note != "":
		b.p.Write([]byte(textformat.Escape(e.Note) + "\n"))
	case e.Fit != nil:
		b.pace.step(e)
		b.say(b.pace.short(*e.Fit))
		blocks := int64(max(1, e.Fit.Blocks))
		b.bar.SetTotal(int64(e.Fit.Sweeps)*blocks, false)
		b.bar.SetCurrent(int64(e.Fit.Sweep)*blocks + int64(e.Fit.Block))
	default:
		b.finish()
		b.pace.start()
		b.add(e.Stage)
	}
}

// add starts the bar of a stage. Only the progress of training is known; other stages
// have a spinner.
func (b *bars) add(stage string) {
	text := &atomic.Pointer[string]{}
	b.text = text
	b.say("")
	beside := decor.Any(func(decor.Statistics) string { return *text.Load() })
	name := decor.Name(b.stages[stage] + " ")
	if stage == "fit" {
		// Without a name, so that the line fits 80 columns.
		b.bar = b.p.New(0, mpb.BarStyle(), mpb.BarWidth(12), mpb.AppendDecorators(beside))
		return
	}
	elapsed := decor.OnComplete(decor.Elapsed(decor.ET_STYLE_GO, decor.WC{W: 4}), "")
	b.bar = b.p.New(0, mpb.SpinnerStyle().PositionLeft(), mpb.BarWidth(2), mpb.PrependDecorators(name),
		mpb.AppendDecorators(elapsed, beside), mpb.BarFillerClearOnComplete())
}

// say sets the text next to the current bar.
func (b *bars) say(text string) { b.text.Store(&text) }

// finish completes the current bar, which stays on the screen.
func (b *bars) finish() {
	if b.bar == nil {
		return
	}
	b.bar.SetTotal(-1, true)
	b.bar = nil
}

func (b *bars) End() {
	b.finish()
	b.p.Wait()
}
