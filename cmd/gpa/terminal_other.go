//go:build !unix

package main

import "os"

// isTerminal takes every output for a pipe where the system's way to ask is not known.
func isTerminal(*os.File) bool { return false }

func terminalColumns(*os.File) int { return 0 }
