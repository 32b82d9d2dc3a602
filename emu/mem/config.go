// Package mem times memory: how the accesses of a warp become sectors and passes, what they find in the caches of an SM,
// in L2 and in DRAM, and when their data are back. It holds no data; functional memory is the emulator's.
//
// Time is arithmetic on next-free times: nothing ticks. A [SM] is the part that belongs to one SM, an LSU with its
// queues and L1; what it misses it writes into a log. A [Device] is the part that all SMs share, L2 and DRAM; it serves
// the logs of a quantum of cycles in the order of (cycle, SM, position in the log) and so gives the same times
// whichever way the SMs were advanced. The quantum is shorter than the way to L2 and back, see [Config.Quantum]: no SM
// can miss an answer that it would have had within the quantum.
//
// Structure after Accel-Sim (Khairy et al., ISCA 2020): sectors, streaming L1, write-validate L2; and after Huerta et al.
// (MICRO 2025, tables 1 and 2) for the queues before the LSU.
package mem

import (
	"math"

	"gpa/emu/arch"
)

// Never is the time of what has not been determined yet.
const Never = math.MaxInt64

// Geometry of a line, the same on all GPUs since Volta.
const (
	lineShift      = 7
	sectorShift    = 5
	sectorsPerLine = 1 << (lineShift - sectorShift)
	sectorBytes    = 1 << sectorShift
	allSectors     = 1<<sectorsPerLine - 1
)

// A Config holds the figures of a model as the timing code uses them.
type Config struct {
	SMs        int
	Schedulers int

	// Fast leaves out what costs emulation time: L2 answers after a fixed latency, within its bandwidth.
	Fast bool

	queueLG, queueMIO   int
	entry, address, lsu int64
	instruction         int64 // cycles between two instructions through the LSU
	operands, wider     int64

	l1Lines, l1Sets, l1Pending int
	l1Hit, l2Hit               int64 // from the LSU's grant
	atomic                     int64 // from the LSU's grant
	dram                       int64 // more than l2Hit

	banks                  int
	shared, atomicShared   int64 // from the LSU's grant
	conflict               int64
	slices, l2Sets, l2Ways int
	channels               int
	slicePerSector         int64 // ticks that a slice is busy with a sector
	portPerSector          int64 // ticks that an SM's port is busy with a sector
	l2PerSector            int64 // ticks of all of L2
	channelPerSector       int64 // ticks that a DRAM channel is busy with a sector
	atomicUnit             int64 // ticks
	tlbPage                uint
	tlbEntries             int
	tlbMiss                int64
}

// NewConfig derives the figures from a model for SMs whose shared memory takes carveout bytes of the unified memory.
func NewConfig(m *arch.Model, carveout int, fast bool) *Config {
	l, q := &m.Latencies, &m.Queues
	entry := q.Entry.Cycles()
	line := m.L1.Line.Int()
	perCycle := func(bytesPerCycle float64) int64 { return int64(math.Ceil(sectorBytes * tick / bytesPerCycle)) }
	slices := m.L2.Slices.Int()
	return &Config{
		SMs: m.SMs.Int(), Schedulers: m.Limits.Schedulers.Int(), Fast: fast,
		queueLG: q.LG.Int(), queueMIO: q.MIO.Int(),
		entry: entry, address: q.Address.Cycles(), lsu: q.LSU.Cycles(), instruction: q.Instruction.Cycles(),
		operands: l.Operands.Cycles(), wider: l.Wider.Cycles(),
		l1Lines: max(m.L1.Unified.Int()-m.L1.Reserved.Int()-carveout, line*m.L1.Sets.Int()) / line, l1Sets: m.L1.Sets.Int(), l1Pending: m.L1.Pending.Int(),
		l1Hit: l.L1.Cycles() - entry, l2Hit: l.L2.Cycles() - entry, atomic: l.Global.Cycles() - entry,
		dram:  l.DRAM.Cycles() - l.L2.Cycles(),
		banks: m.Shared.Banks.Int(), shared: l.Shared.Cycles() - entry, atomicShared: l.Atomic.Cycles() - entry,
		conflict: m.Shared.Conflict.Cycles(),
		slices:   slices, l2Ways: m.L2.Ways.Int(), l2Sets: m.L2.Size.Int() / line / m.L2.Ways.Int(),
		channels:       m.DRAM.Channels.Int(),
		slicePerSector: perCycle(m.L2.SliceWidth.Value), portPerSector: perCycle(m.L2.PortWidth.Value),
		l2PerSector:      perCycle(m.L2.SliceWidth.Value * m.L2.Slices.Value),
		channelPerSector: perCycle(m.DRAM.Achieved.Value / m.Clock.Value / m.DRAM.Channels.Value),
		atomicUnit:       m.L2.AtomicUnit.Cycles() * tick,
		tlbPage:          uint(math.Log2(m.TLB.Page.Value)), tlbEntries: m.TLB.Entries.Int(), tlbMiss: m.TLB.Miss.Cycles(),
	}
}

// Quantum returns the number of cycles that SMs may be advanced without an answer of the shared part: a power of two no
// longer than the shortest way from the LSU to L2 and back.
func (c *Config) Quantum() int64 {
	q := int64(1)
	for q*2 <= min(c.l2Hit, c.atomic) {
		q *= 2
	}
	return q
}
