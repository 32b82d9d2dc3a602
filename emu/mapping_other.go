//go:build !unix

package emu

// mapZeros returns size bytes of zeros.
func mapZeros(size uint64) ([]byte, error) { return make([]byte, size), nil }

// unmap leaves them to the collector.
func unmap([]byte) {}
