package main

import (
	"bytes"
	"errors"
	"io"
	"os"

	"gpa/reports"
	"gpa/reports/terminal"
)

// newEnv finds out what a process's outputs are.
func newEnv(stdout, stderr *os.File, getenv func(string) string) *env {
	e := &env{terminal: terminal.Attached(stdout, stderr, getenv)}
	if !e.terminal.Dumb {
		e.progress = terminal.NewProgress(stderr, e.terminal.Messages)
	}
	e.stdout, e.stderr = e.progress.Results(stdout), e.progress.Messages(stderr)
	return e
}

// style is how the text on standard output is laid out.
func (e *env) style() reports.Style { return e.terminal.Style() }

// maxHeld is how much of a command's output is held back until it is known how the command ends, bytes.
const maxHeld = 64 << 20

// A heldOutput keeps the result of a command until it is complete: a command line or an input that turns out to be wrong on the way
// leaves no part of a table. What is longer is not held.
type heldOutput struct {
	env  *env
	text bytes.Buffer
	sent bool // something has been written
}

// Write holds a text, or hands everything on once there is too much of it.
func (h *heldOutput) Write(text []byte) (int, error) {
	n, _ := h.text.Write(text)
	if h.text.Len() > maxHeld {
		return n, h.release()
	}
	return n, nil
}

// release hands on what was held.
func (h *heldOutput) release() error {
	h.sent = h.sent || h.text.Len() > 0
	_, err := h.text.WriteTo(h.env.stdout)
	return err
}

// live is where what is written goes out at once, to who waits for it.
func (e *env) live() io.Writer {
	if held, ok := e.stdout.(*heldOutput); ok {
		return held.env.stdout
	}
	return e.stdout
}

// end hands on the result of a command that ended with an error or nil, unless it is none, and returns how the command ended.
func (h *heldOutput) end(err error) error {
	var failed failure
	var program programStatus
	switch {
	case err == nil || errors.As(err, &failed) || errors.As(err, &program) || stopped(err):
		if unwritten := h.release(); err == nil {
			err = unwritten
		}
		return err
	case h.sent:
		return failure{err} // a part has been seen: the result is not complete
	}
	return err
}
