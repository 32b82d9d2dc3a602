package emu

import "sync/atomic"

// A Progress tells how far a machine has come. Other goroutines may read it while a launch runs.
type Progress struct {
	ended        atomic.Int64
	instructions atomic.Int64
}

// Progress is that of all launches of the machine so far.
func (m *Machine) Progress() *Progress { return &m.progress }

// Blocks returns the number of thread blocks that have ended.
func (p *Progress) Blocks() int64 { return p.ended.Load() }

// WarpInstructions returns the number of warp instructions that have been executed.
func (p *Progress) WarpInstructions() int64 { return p.instructions.Load() }

// Skip counts the blocks of a launch that need not be run as ended.
func (p *Progress) Skip(l *Launch) {
	p.ended.Add(int64(l.Grid[0]) * int64(l.Grid[1]) * int64(l.Grid[2]))
}
