//go:build !linux

package emu

import "math"

// FreeMemory returns how many bytes of memory this process can still take: math.MaxInt64, as this system is not asked.
func FreeMemory() int64 { return math.MaxInt64 }
