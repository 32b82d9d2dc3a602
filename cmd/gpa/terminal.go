package main

import (
	"fmt"
	"io"
	"os"

	"gpa/reports"
	"gpa/reports/terminal"
)

// outputs say what the two outputs of a command are attached to. The zero value is a pipe.
type outputs struct {
	width    int  // columns of the terminal that standard output is; 0 where it is none
	messages int  // the same of standard error
	noColor  bool // the surroundings ask for no colours
}

// The environment variables that are honoured.
const (
	noColorVariable = "NO_COLOR" // not empty: no colours (no-color.org)
	termVariable    = "TERM"     // dumb: a terminal without escape sequences
)

// newEnv finds out what a process's outputs are.
func newEnv(stdout, stderr *os.File, getenv func(string) string) *env {
	dumb := getenv(termVariable) == "dumb"
	e := &env{terminal: outputs{
		width: terminal.Columns(stdout, getenv), messages: terminal.Columns(stderr, getenv), noColor: dumb || getenv(noColorVariable) != "",
	}}
	if !dumb {
		e.progress = terminal.NewProgress(stderr, e.terminal.messages)
	}
	e.stdout, e.stderr = e.progress.Results(stdout), e.progress.Messages(stderr)
	return e
}

// style is how the text on standard output is laid out.
func (e *env) style() reports.Style {
	return reports.Style{Width: e.terminal.width, Color: e.colored(e.terminal.width > 0)}
}

// messageStyle is that of standard error.
func (e *env) messageStyle() reports.Style {
	return reports.Style{Color: e.colored(e.terminal.messages > 0)}
}

func (e *env) colored(onTerminal bool) bool {
	switch e.color {
	case colorAlways:
		return true
	case colorNever:
		return false
	}
	return onTerminal && !e.terminal.noColor
}

// A colorMode is the value of --color.
type colorMode string

const (
	colorAuto   colorMode = "auto"
	colorAlways colorMode = "always"
	colorNever  colorMode = "never"
)

// String is the mode as the flag takes it.
func (c *colorMode) String() string {
	if *c == "" {
		return string(colorAuto)
	}
	return string(*c)
}

// Set reads a mode.
func (c *colorMode) Set(text string) error {
	switch mode := colorMode(text); mode {
	case colorAuto, colorAlways, colorNever:
		*c = mode
		return nil
	}
	return fmt.Errorf("%q is none of auto, always and never", text)
}

// Type names the value in usage messages.
func (c *colorMode) Type() string { return "when" }

// A table is rendered for standard output.
func (e *env) table(w io.Writer, t *reports.Table) error {
	t.Style = e.style()
	return t.Render(w)
}
