package sweep

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// A Progress tells how far a sweep has come, to several at a time.
type Progress struct {
	began time.Time
	last  atomic.Pointer[Counts]
}

// NewProgress is that of a sweep that begins.
func NewProgress() *Progress { return &Progress{began: time.Now()} }

// Count enters how far it has come, as [Options.Progress] does.
func (p *Progress) Count(c Counts) { p.last.Store(&c) }

// Last is what was entered last, nil before.
func (p *Progress) Last() *Counts { return p.last.Load() }

// String is how far the sweep has come and how long the rest will take.
func (p *Progress) String() string {
	c := p.last.Load()
	if c == nil {
		return "begins"
	}
	text := fmt.Sprintf("%d of %d variants, %d cached, %d failed, %d under way", c.Done, c.Variants, c.Cached, c.Failed, c.Running)
	if c.Ran > 0 && c.Running > 0 {
		rate := time.Since(p.began) / time.Duration(c.Ran)
		text += fmt.Sprintf(", %s each, %s left", rate.Round(time.Millisecond), (rate * time.Duration(c.Running+c.Left)).Round(time.Second))
	}
	return text
}

// OpenEvents opens a file for [Options.Outcome] to write a line of JSON to for each outcome: - is standard error, "" none.
func OpenEvents(name string, stderr io.Writer) (write func(Event) error, end func(), err error) {
	end = func() {}
	switch name {
	case "":
		return nil, end, nil
	case "-":
		return func(x Event) error { return json.NewEncoder(stderr).Encode(x) }, end, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, end, err
	}
	return func(x Event) error { return json.NewEncoder(file).Encode(x) }, func() { file.Close() }, nil
}
