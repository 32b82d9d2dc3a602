package terminal

import (
	"bytes"
	"io"
)

// MaxHeld is how much of a command's output is held back until it is known how the command ends, bytes.
const MaxHeld = 64 << 20

// A Held keeps the result of a command until it is complete: a command line or an input that turns out to be wrong on the way
// leaves no part of a table. What is longer is not held.
type Held struct {
	W    io.Writer
	text bytes.Buffer
	sent bool // something has gone out
}

// Write holds a text, or hands everything on once there is too much of it.
func (h *Held) Write(text []byte) (int, error) {
	n, _ := h.text.Write(text)
	if h.text.Len() > MaxHeld {
		return n, h.Release()
	}
	return n, nil
}

// Release hands on what was held.
func (h *Held) Release() error {
	h.sent = h.sent || h.text.Len() > 0
	_, err := h.text.WriteTo(h.W)
	return err
}

// Sent reports whether something has gone out.
func (h *Held) Sent() bool { return h.sent }
