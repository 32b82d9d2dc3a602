// Package terminal finds out what terminals outputs are, and shows on them how far a command has come.
package terminal

import (
	"fmt"
	"os"
	"strconv"

	"gpa/reports"
)

// The environment variables that are honoured.
const (
	columnsVariable = "COLUMNS"  // width of the terminal, before what the system says (POSIX)
	noColorVariable = "NO_COLOR" // not empty: no colours (no-color.org)
	termVariable    = "TERM"     // dumb: a terminal without escape sequences
)

// Outputs say what the outputs of a process are attached to. The zero value is pipes.
type Outputs struct {
	Width    int       // columns of the terminal that standard output is; 0 where it is none
	Messages int       // the same of standard error
	NoColor  bool      // the surroundings ask for no colours
	Dumb     bool      // the terminal has no escape sequences
	Color    ColorMode // what the user asks for
}

// Attached finds out what outputs are. getenv is os.Getenv or another source of variables.
func Attached(stdout, stderr *os.File, getenv func(string) string) Outputs {
	dumb := getenv(termVariable) == "dumb"
	return Outputs{Width: columns(stdout, getenv), Messages: columns(stderr, getenv), NoColor: dumb || getenv(noColorVariable) != "", Dumb: dumb}
}

// Style is how the text on standard output is laid out.
func (o *Outputs) Style() reports.Style {
	return reports.Style{Width: o.Width, Color: o.colored(o.Width > 0)}
}

// MessageStyle is that of standard error.
func (o *Outputs) MessageStyle() reports.Style {
	return reports.Style{Color: o.colored(o.Messages > 0)}
}

func (o *Outputs) colored(onTerminal bool) bool {
	switch o.Color {
	case ColorAlways:
		return true
	case ColorNever:
		return false
	}
	return onTerminal && !o.NoColor
}

// A ColorMode says when to use colours. It is a value of flags.
type ColorMode string

// The modes.
const (
	ColorAuto   ColorMode = "auto" // on a terminal; the zero value too
	ColorAlways ColorMode = "always"
	ColorNever  ColorMode = "never"
)

// String is the mode as the flag takes it.
func (c *ColorMode) String() string {
	if *c == "" {
		return string(ColorAuto)
	}
	return string(*c)
}

// Set reads a mode.
func (c *ColorMode) Set(text string) error {
	switch mode := ColorMode(text); mode {
	case ColorAuto, ColorAlways, ColorNever:
		*c = mode
		return nil
	}
	return fmt.Errorf("%q is none of auto, always and never", text)
}

// Type names the value in usage messages.
func (c *ColorMode) Type() string { return "when" }

// defaultColumns is the width of a terminal that does not tell it.
const defaultColumns = 80

// columns is the width of the terminal that a file is, 0 where it is none.
func columns(file *os.File, getenv func(string) string) int {
	if !Is(file) {
		return 0
	}
	if n, err := strconv.Atoi(getenv(columnsVariable)); err == nil && n > 0 {
		return n
	}
	if n := ownColumns(file); n > 0 {
		return n
	}
	return defaultColumns
}
