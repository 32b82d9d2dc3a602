package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"gpa/reports"
)

// When a line of progress appears, and how often it is drawn again.
const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
)

// A Progress shows on a terminal what a command is doing, once it has taken longer than a second: one line of standard error that
// is drawn over itself and gone when anything else is printed. The nil Progress, of pipes, does nothing.
type Progress struct {
	mu     sync.Mutex
	w      io.Writer
	width  int // columns of the terminal
	clock  func() time.Time
	began  time.Time
	stages []string     // what is being done, the whole before its part
	detail fmt.Stringer // how far that has come, nil for nothing to tell
	shown  bool         // the line is on the terminal
	inLine bool         // somebody else's line is not at its end
	done   bool
	stop   chan struct{}
}

// NewProgress returns a progress that draws on a terminal of so many columns, nil for 0.
func NewProgress(w io.Writer, width int) *Progress {
	if width == 0 {
		return nil
	}
	return &Progress{w: w, width: width, clock: time.Now}
}

// Start shows what is done from now on.
func (p *Progress) Start(name string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.began, p.stages, p.done, p.stop = p.clock(), []string{name}, false, make(chan struct{})
	go p.run(p.stop)
}

func (p *Progress) run(stop chan struct{}) {
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			p.draw()
		}
	}
}

// Finish takes the line away for good.
func (p *Progress) Finish() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
}

// end is Finish under the lock.
func (p *Progress) end() {
	p.clear()
	if !p.done && p.stop != nil {
		close(p.stop)
	}
	p.done = true
}

// Stage says what is done until the function that it returns is called, as a part of the stage around it.
func (p *Progress) Stage(what string) (end func()) {
	if p == nil {
		return func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	outer := p.stages
	p.stages = append(outer[:len(outer):len(outer)], what)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.stages = outer
	}
}

// Watch shows how far it has come too, until the function that it returns is called.
func (p *Progress) Watch(detail fmt.Stringer) (end func()) {
	if p == nil {
		return func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	outer := p.detail
	p.detail = detail
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.detail = outer
	}
}

// draw puts the line on the terminal.
func (p *Progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	passed := p.clock().Sub(p.began)
	if p.done || p.inLine || passed < progressAfter {
		return
	}
	line := reports.OneLine(strings.Join(p.stages, ": "))
	if p.detail != nil {
		line += ", " + p.detail.String()
	}
	suffix := fmt.Sprintf(", %d s", int(passed.Seconds()))
	if room := max(0, p.width-1-len(suffix)); len(line) > room {
		line = line[:room] // a line that wraps cannot be drawn over
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s%s", line, suffix)
	p.shown = true
}

// clear takes the line off the terminal.
func (p *Progress) clear() {
	if p.shown {
		io.WriteString(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// Messages wraps standard error: the line makes way for what is written and comes back after it.
func (p *Progress) Messages(w io.Writer) io.Writer {
	if p == nil {
		return w
	}
	return &progressWriter{p, w, false}
}

// Results wraps standard output: with the first of the result the line is gone.
func (p *Progress) Results(w io.Writer) io.Writer {
	if p == nil {
		return w
	}
	return &progressWriter{p, w, true}
}

type progressWriter struct {
	p   *Progress
	w   io.Writer
	end bool
}

// Write clears the line of progress and writes.
func (w *progressWriter) Write(b []byte) (int, error) {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	if w.end {
		w.p.end()
	}
	w.p.clear()
	if len(b) > 0 {
		w.p.inLine = b[len(b)-1] != '\n'
	}
	return w.w.Write(b)
}
