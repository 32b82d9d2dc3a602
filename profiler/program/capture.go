package program

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gpa/emu"
	"gpa/emu/capture"
	"gpa/emu/cuda"
)

// captured runs a launch of the program and takes its capture.
func (p *Program) captured(ctx context.Context, e *Kernel, l *cuda.Launch) (*emu.Result, error) {
	t := p.taking(l)
	l.Launch.Untimed = true
	why := t.Begin()
	result, err := l.Machine.Launch(ctx, l.Launch)
	var fault *emu.Fault
	if err != nil && !errors.As(err, &fault) {
		return result, err
	}
	var c *capture.Capture
	if why == nil {
		c, why = t.Replay(fault, capture.Check(ctx, p.machine, fault))
	}
	if why == nil && fault == nil {
		why = p.loosen(ctx, e, c)
	}
	if why != nil {
		p.note(fmt.Sprintf("launch %d, of %s, is not captured: %v", p.journal.launches, e.Name(), why))
		return result, err
	}
	p.options.Capture(p.journal.launches, e.Name(), c)
	return result, err
}

// loosen takes back what a capture expects that depends on the order of threads.
func (p *Program) loosen(ctx context.Context, e *Kernel, c *capture.Capture) error {
	unexpected, err := c.Loosen(ctx, p.machine)
	if len(unexpected) > 0 {
		p.note(fmt.Sprintf("launch %d, of %s: what is in %s after it depends on the order of threads, and its capture expects nothing of it", p.journal.launches, e.Name(), strings.Join(unexpected, ", ")))
	}
	return err
}

// taking is a launch of which a capture is to be taken.
func (p *Program) taking(l *cuda.Launch) *capture.Taking {
	return &capture.Taking{GPU: p.options.GPU, Machine: l.Machine, Launch: l.Launch, Size: l.Size}
}

// mostNotes is how many notes are kept.
const mostNotes = 20

func (p *Program) note(text string) {
	if len(p.notes) < mostNotes {
		p.notes = append(p.notes, text)
	}
}
