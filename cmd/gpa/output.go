package main

import (
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

// live is where what is written goes out at once, to who waits for it.
func (e *env) live() io.Writer {
	if held, ok := e.stdout.(*terminal.Held); ok {
		return held.W
	}
	return e.stdout
}

// handOn hands on the result of a command that ended with an error or nil, unless it is none, and returns how the command ended.
func handOn(h *terminal.Held, err error) error {
	var failed failure
	var program programStatus
	switch {
	case err == nil || errors.As(err, &failed) || errors.As(err, &program) || stopped(err):
		if unwritten := h.Release(); err == nil {
			err = unwritten
		}
		return err
	case h.Sent():
		return failure{err} // a part has been seen: the result is not complete
	}
	return err
}
