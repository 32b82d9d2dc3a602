package emu

import (
	"gpa/emu/stream"
)

// Streams says that the launch is timed by the streams of instructions that its warps execute, after edits of them; without edits, as
// they are.
type Streams struct {
}

// edits translates the edits for a program.
func (s *Streams) edits(p *program) ([]stream.Edit, error) {
	return nil, nil
}

// compares reports whether an edit compares what instructions of different threads compute.
func (s *Streams) compares() bool { return false }
