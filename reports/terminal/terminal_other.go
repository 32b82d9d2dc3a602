//go:build !unix

package terminal

import "os"

// Is takes every output for a pipe where the system's way to ask is not known.
func Is(*os.File) bool { return false }

func ownColumns(*os.File) int { return 0 }
