// Package activity measures how well a launch uses the lanes of its warps: instructions issued, lanes that were active,
// and the memory transactions that they needed. These are the figures by which papers on re-convergence compare schemes.
package activity

import (
	"math/bits"

	"gpa/cubin/sass"
	"gpa/emu"
)

// A Meter measures launches without timing; it is a [emu.Tracer]. The zero value is ready, and adds up what it is given.
type Meter struct {
	deaf
	activity Activity
	threads  int   // of a block
	bases    []int // by section: index of its first instruction
	insts    int
	blocks   map[int]*issues // that are running
	free     []*issues
	last     *issues // of the block of the last step
	number   int     // that block
}

// An Activity is what a meter measured. Threads are counted where they are active, whether or not their guard is true.
type Activity struct {
	WarpInstructions   int64
	ThreadInstructions int64
	// Of these, the ones that manage convergence barriers: BSSY, BSYNC, BREAK, BMOV, YIELD.
	BarrierWarpInstructions, BarrierThreadInstructions int64
	// BlockSlots is the number of instructions that blocks would have issued as one wide warp each, times their threads:
	// an instruction counts as often as the warp executes it that does so most often.
	BlockSlots int64
	// MemoryInstructions are those of warps that touch global memory, Lines the lines of 128 bytes that they touch.
	MemoryInstructions, Lines int64
}

// LineBytes is the size of a memory transaction.
const LineBytes = 128

// Add adds what another launch did.
func (a *Activity) Add(o Activity) {
	a.WarpInstructions += o.WarpInstructions
	a.ThreadInstructions += o.ThreadInstructions
	a.BarrierWarpInstructions += o.BarrierWarpInstructions
	a.BarrierThreadInstructions += o.BarrierThreadInstructions
	a.BlockSlots += o.BlockSlots
	a.MemoryInstructions += o.MemoryInstructions
	a.Lines += o.Lines
}

// Factor is the activity factor of warps of 32 lanes: the part of the issued lanes that was active (Kerr, Diamos and
// Yalamanchili, "A characterization and analysis of PTX kernels", IISWC 2009).
func (a *Activity) Factor() float64 { return ratio(a.ThreadInstructions, 32*a.WarpInstructions) }

// BlockFactor is the activity factor of warps as wide as blocks, as Thread Frontiers has it.
func (a *Activity) BlockFactor() float64 { return ratio(a.ThreadInstructions, a.BlockSlots) }

// MemoryEfficiency is the inverse of the mean number of transactions that a warp's access to global memory needs.
func (a *Activity) MemoryEfficiency() float64 { return ratio(a.MemoryInstructions, a.Lines) }

func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// issues counts executions of a block, by warp and instruction.
type issues struct{ counts [][]int32 }

// Activity returns what has been measured so far.
func (m *Meter) Activity() Activity { return m.activity }

// Begin takes note of the launch.
func (m *Meter) Begin(f *emu.LaunchFacts) {
	m.threads = f.Block[0] * f.Block[1] * f.Block[2]
	m.bases, m.insts, m.free, m.last = nil, 0, nil, nil
	m.blocks = make(map[int]*issues)
	for _, c := range f.Module.Codes {
		m.bases = append(m.bases, m.insts)
		m.insts += len(c.Insts)
	}
}

// BeginBlock gives a block its counts.
func (m *Meter) BeginBlock(block, _ int) {
	if last := len(m.free) - 1; last >= 0 {
		m.blocks[block], m.free = m.free[last], m.free[:last]
		return
	}
	b := &issues{counts: make([][]int32, (m.threads+31)/32)}
	for i := range b.counts {
		b.counts[i] = make([]int32, m.insts)
	}
	m.blocks[block] = b
}

// EndBlock adds up what the block would have issued as one warp.
func (m *Meter) EndBlock(block int) {
	b := m.blocks[block]
	m.last = nil
	delete(m.blocks, block)
	for i := range m.insts {
		most := int32(0)
		for _, counts := range b.counts {
			most = max(most, counts[i])
			counts[i] = 0
		}
		m.activity.BlockSlots += int64(most) * int64(m.threads)
	}
	m.free = append(m.free, b)
}

// Step counts an instruction.
func (m *Meter) Step(s *emu.Step) {
	a, active := &m.activity, int64(bits.OnesCount32(s.Active))
	a.WarpInstructions++
	a.ThreadInstructions += active
	if s.Inst.Op.Properties().Sync == sass.SyncConvergence {
		a.BarrierWarpInstructions++
		a.BarrierThreadInstructions += active
	}
	if m.last == nil || m.number != s.Block {
		m.last, m.number = m.blocks[s.Block], s.Block
	}
	m.last.counts[s.Warp][m.bases[s.Code]+int(s.Inst.PC/sass.InstSize)]++
	if kind, _, lanes := s.Access(); kind != emu.NoAccess {
		m.access(s, lanes)
	}
}

// access counts the lines of an access to global memory.
func (m *Meter) access(s *emu.Step, lanes uint32) {
	var lines [32]uint64
	n := 0
next:
	for ; lanes != 0; lanes &= lanes - 1 {
		space, addr := s.Lane(bits.TrailingZeros32(lanes))
		if space != emu.Global {
			continue
		}
		line := addr / LineBytes
		if n > 0 && lines[n-1] == line {
			continue
		}
		for _, seen := range lines[:n] {
			if seen == line {
				continue next
			}
		}
		lines[n] = line
		n++
	}
	if n > 0 {
		m.activity.MemoryInstructions++
		m.activity.Lines += int64(n)
	}
}
