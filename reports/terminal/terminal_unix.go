//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// Is reports whether a file is a terminal, which has a size; /dev/null is a character device as well, but has none.
func Is(file *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// ownColumns is the width of a terminal, 0 where it does not tell.
func ownColumns(file *os.File) int {
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
