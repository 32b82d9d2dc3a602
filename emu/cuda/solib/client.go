//go:build linux && (amd64 || arm64)

package solib

import "unsafe"

// client is what all functions of a library do: it sends the call on a socket, does what the server asks for, and returns what the
// server says. It is position-independent, uses no memory but the stack and the data of the image, and no library: the same bytes run
// in every process. It keeps the registers that belong to the caller by the System V ABI for amd64 and the Procedure Call Standard for
// the Arm 64-bit Architecture (AAPCS64). It is never called in gpa.
//
//lint:ignore U1000 its code is copied, never called
func client()

// clientBounds returns where the code of client begins and ends. Go function values hold the address of a wrapper.
func clientBounds() (begin, end unsafe.Pointer)

// clientCode returns the machine code of client.
func clientCode() ([]byte, error) {
	begin, end := clientBounds()
	return unsafe.Slice((*byte)(begin), uintptr(end)-uintptr(begin)), nil
}
