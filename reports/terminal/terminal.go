// Package terminal finds out what terminals outputs are, and shows on them how far a command has come.
package terminal

import (
	"os"
	"strconv"
)

// columnsVariable is the environment variable with the width of the terminal, which counts before what the system says (POSIX).
const columnsVariable = "COLUMNS"

// defaultColumns is the width of a terminal that does not tell it.
const defaultColumns = 80

// Columns is the width of the terminal that a file is, 0 where it is none. getenv is os.Getenv or another source of variables.
func Columns(file *os.File, getenv func(string) string) int {
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
