//go:build unix

package emu

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// mapZeros returns size bytes of zeros that take memory as they are written.
func mapZeros(size uint64) ([]byte, error) {
	data, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("this computer has no room for %s: %w", byteCount(int64(size)), err)
	}
	return data, nil
}

// unmap gives them back.
func unmap(data []byte) {
	if err := unix.Munmap(data); err != nil {
		panic(err) // they were mapped as they are
	}
}
