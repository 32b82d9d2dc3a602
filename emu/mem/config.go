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
	sectorWords    = sectorBytes / 4
	allWords       = 1<<sectorWords - 1
)

// A Config holds the figures of a model as the timing code uses them.
type Config struct {
	SMs        int
	Schedulers int

	// Fast leaves out what costs emulation time: L2 answers after a fixed latency, within its bandwidth.
	Fast bool

	queueLG, queueMIO   int
	queueTEX            int
	entry, address, lsu int64
	entryMIO            int64
	entryUniform        int64
	instruction         int64 // cycles between two instructions through the LSU
	shuffle             int64 // and between two that do not touch memory
	barrier             int64 // cycles between two arrivals at CTA barriers
	wider, sharedWider  int64
	storeData           int64 // from the grant
	uniformLoad         int64 // sooner after the grant
	uniformStore        int64 // less than storeData
	storeWider          int64

	l1Sets, l1Ways, l1Pending int
	l1Outgoing                int // sectors
	tagHash                   [2]uint64
	l1Hit, l2Hit              int64 // from the LSU's grant
	atomic                    int64 // from the LSU's grant
	dram                      int64 // more than l2Hit

	banks                 int
	shared, atomicShared  int64 // from the LSU's grant
	conflict              int64
	places                // of lines in a partition of L2
	l2Ways                int
	partitions            int
	far                   int64 // more than l2Hit in another partition than the SM's
	inOrder               bool  // a hit of L2 waits with the miss before it
	linkPerSector         int64 // ticks that a slice's link to the other partitions is busy with a sector
	channels, memoryBanks int   // banks of a channel
	slicePerSector        int64 // ticks that a slice is busy with a sector
	slicePartial          int64 // ticks more with one that is written in part
	fill                  fillRule
	portPerSector         int64 // ticks that an SM's port is busy with a sector that is stored
	replyPerSector        int64 // and with one that is loaded
	l2PerSector           int64 // ticks of all of L2
	reading, writing      bankTime
	rowLines              uint64
	batch                 int64 // cycles that a channel keeps writes while it reads
	buffered              int64 // cycles that a write may wait for its bank without delaying others
	spread                int64 // of the latency, less or more
	turn                  int64 // ticks that it is more busy with a line written back after a read, all banks together with a batch
	atomicUnit            int64 // ticks
	atomicFloat           int64 // ticks
	tlbPage               uint
	tlbEntries            int
	tlbMiss               int64
	firstEntries          int // of the TLB of an SM
	firstMiss             int64
}

// NewConfig derives the figures from a model for SMs whose shared memory takes carveout bytes of the unified memory.
func NewConfig(m *arch.Model, carveout int, fast bool) *Config {
	l, q := &m.Latencies, &m.Queues
	entry := q.Entry.Cycles()
	perCycle := func(bytesPerCycle float64) int64 { return int64(math.Ceil(sectorBytes * tick / bytesPerCycle)) }
	parts, linkPerSector := m.L2.Partitions.Int(), int64(0)
	if parts > 1 {
		linkPerSector = perCycle(m.L2.LinkWidth.Value)
	}
	return &Config{
		places: newPlaces(m),
		SMs:    m.SMs.Int(), Schedulers: m.Limits.Schedulers.Int(), Fast: fast,
		queueLG: q.LG.Int(), queueMIO: q.MIO.Int(), queueTEX: q.TEX.Int(),
		entry: entry, address: q.Address.Cycles(), lsu: q.LSU.Cycles(), instruction: q.Instruction.Cycles(), shuffle: q.Shuffle.Cycles(), barrier: q.Barrier.Cycles(),
		wider: l.Wider.Cycles(), sharedWider: l.SharedWider.Cycles(),
		storeData: l.StoreData.Cycles(), storeWider: l.StoreWider.Cycles(), entryMIO: q.EntryMIO.Cycles(),
		entryUniform: q.EntryUniform.Cycles(), uniformLoad: l.UniformLoad.Cycles(), uniformStore: l.UniformStore.Cycles(),
		l1Sets: l1Sets(m, carveout), l1Ways: m.L1.Ways.Int(),
		l1Pending: m.L1.Pending.Int(), l1Outgoing: m.L1.Outgoing.Int(),
		slicePartial: int64(m.L2.Partial.Value * tick), fill: fillRule(m.L2.Fill.Int()),
		tagHash: [2]uint64{uint64(m.L1.TagHash[0].Value), uint64(m.L1.TagHash[1].Value)},
		l1Hit:   l.L1.Cycles() - entry, l2Hit: l.L2.Cycles() - entry, atomic: l.Global.Cycles() - entry,
		dram:  l.DRAM.Cycles() - l.L2.Cycles(),
		banks: m.Shared.Banks.Int(), shared: l.Shared.Cycles() - q.EntryMIO.Cycles(), atomicShared: l.Atomic.Cycles() - q.EntryMIO.Cycles(),
		conflict:   m.Shared.Conflict.Cycles(),
		l2Ways:     m.L2.Ways.Int(),
		partitions: parts, far: m.L2.Far.Cycles(), linkPerSector: linkPerSector, inOrder: m.L2.InOrder.Value > 0,
		channels: m.DRAM.Channels.Int(), memoryBanks: m.DRAM.Banks.Int(),
		slicePerSector: perCycle(m.L2.SliceWidth.Value), portPerSector: perCycle(m.L2.PortWidth.Value), replyPerSector: perCycle(m.L2.ReplyWidth.Value),
		l2PerSector: perCycle(m.L2.SliceWidth.Value * m.L2.Slices.Value),
		reading:     bankTimeOf(m, m.DRAM.Achieved.Value*m.DRAM.Read.Value), writing: bankTimeOf(m, m.DRAM.Achieved.Value), rowLines: uint64(m.DRAM.Row.Value),
		turn: int64(m.DRAM.Turn.Value * m.DRAM.Banks.Value * tick), spread: m.DRAM.Spread.Cycles(), buffered: m.DRAM.Buffered.Cycles(), batch: m.DRAM.Batch.Cycles(),
		atomicUnit: int64(m.L2.AtomicUnit.Value * tick), atomicFloat: int64(m.L2.AtomicFloat.Value * tick),
		tlbPage: uint(math.Log2(m.TLB.Page.Value)), tlbEntries: m.TLB.Entries.Int(), tlbMiss: m.TLB.Miss.Cycles(),
		firstEntries: m.TLB.FirstEntries.Int(), firstMiss: m.TLB.FirstMiss.Cycles(),
	}
}

// A bankTime is for how many ticks a bank of a DRAM channel is busy with a sector.
type bankTime struct {
	open    int64 // in an open row
	opening int64 // of the first line in a row
}

// bankTimeOf returns the times with which all banks together reach a bandwidth.
func bankTimeOf(m *arch.Model, bandwidth float64) bankTime {
	mean := sectorBytes * tick * m.Clock.Value * m.DRAM.Channels.Value * m.DRAM.Banks.Value / bandwidth
	open, rows := m.DRAM.Open.Value, m.DRAM.Row.Value
	return bankTime{open: int64(mean * open), opening: int64(mean * (rows - (rows-1)*open))}
}

// A fillRule says when a sector that has been written in part is read from DRAM.
type fillRule uint8

// The rules, see [arch.L2].
const (
	fillNever fillRule = iota
	fillEvicted
	fillWritten
)

// Ack returns the cycles from the arrival of a store in L2 to its acknowledgement.
func (c *Config) Ack() int64 { return c.l2Hit - c.l2Hit/2 }

// port returns the ticks that an SM's port is busy with the sectors of a request.
func (c *Config) port(k Kind, sectors int64) int64 {
	if k == Write {
		return sectors * c.portPerSector
	}
	return sectors * c.replyPerSector
}

// l1Sets returns the number of sets of L1 beside a carve-out: an odd one, so that lines a power of two apart spread over
// all of them.
func l1Sets(m *arch.Model, carveout int) int {
	bytes := m.L1.Unified.Int() - max(carveout, m.L1.Reserved.Int())
	return (bytes/m.L1.Line.Int()/m.L1.Ways.Int() - 1) | 1
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
