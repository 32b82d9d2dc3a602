package main

import (
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

// A table is rendered for standard output.
func (e *env) table(w io.Writer, t *reports.Table) error {
	t.Style = e.style()
	return t.Render(w)
}
