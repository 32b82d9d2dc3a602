// Package check finds errors of kernels that the hardware lets pass: accesses out of bounds, reads of memory that nobody
// has written, races in shared memory and misuse of barriers. A [Checker] is the tracer of launches on an emulated GPU.
//
// What it reports happened in this run, on this input. Accesses are ordered as the machine code orders them: by CTA
// barriers, by fences around atomics, and within a warp by the instructions that lanes execute together. An order that only
// the emulator's choice of the next warp or the next group of lanes brought about is none.
package check

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu"
)

// Kind is what is wrong.
type Kind string

// The kinds of findings, beside those of emu.FaultKind, which a finding has where an access or the launch failed.
const (
	UninitialisedRead Kind = "uninitialised read"
	IdleLaneRead      Kind = "shuffle from an idle lane"
	RaceWAW           Kind = "write-write race"
	RaceRAW           Kind = "write-read race"
	RaceWAR           Kind = "read-write race"
	DivergentBarrier  Kind = "divergent barrier"
	MixedBarriers     Kind = "different barriers meet"
	BadSyncMask       Kind = "WARPSYNC mask without the lane itself"
	UnfinishedCopy    Kind = "copy not waited for"
)

// Family is the part of the checker that a kind belongs to, as --only names it.
func (k Kind) Family() string {
	switch k {
	case UninitialisedRead, IdleLaneRead:
		return "init"
	case RaceWAW, RaceRAW, RaceWAR, UnfinishedCopy:
		return "race"
	case DivergentBarrier, MixedBarriers, BadSyncMask, Kind(emu.BarrierDeadlock), Kind(emu.Livelock):
		return "barrier"
	}
	return "memory"
}

// Families are all parts, in the order of reports.
func Families() []string { return []string{"memory", "init", "race", "barrier"} }

// A Place is an instruction and the thread that executed it.
type Place struct {
	Code          int // index in the module's Codes
	PC            uint64
	SASS          string
	Frames        []cubin.Frame // source lines, innermost first
	Block, Thread [3]int
}

// A Finding is an error and its first instance.
type Finding struct {
	Kind   Kind
	Kernel string // demangled
	At     Place
	// Other is the access that a race is with, the earlier one, where the threads went that a barrier missed, or the call that
	// allocated the memory.
	Other *Place

	HasAddress bool
	Space      string // of the address: global, shared or local; empty where Where says it all
	Address    uint64 // an offset in shared and local memory
	Bytes      int
	Where      string // the buffer
	Detail     string
	Count      int64 // lanes that did it, at these places
}

// findingKey tells findings apart.
type findingKey struct {
	kernel    string
	kind      Kind
	at, other siteID
}

// A siteID is an instruction of the module, 0 for none.
type siteID int32

// A site is an instruction that was seen.
type site struct {
	code int
	inst *sass.Inst
	line siteID // the first site of the same source line, itself where there is none: what findings are told apart by
}

type siteKey struct {
	code int
	pc   uint64
}

// A Checker is an emu.Tracer. Its zero value is ready.
type Checker struct {
	facts    *emu.LaunchFacts
	lines    map[string]siteID // the first site of a source line, with its calls
	sites    []site            // by siteID - 1
	siteOf   map[siteKey]siteID
	findings map[findingKey]*Finding
	global   regions
	blocks   map[int]*block
	spare    []*block // whose storage is free

	allocated []allocation // by the call whose Step is still to come
}

var _ emu.Tracer = (*Checker)(nil)

// Begin starts a launch. What earlier launches wrote stays written.
func (c *Checker) Begin(facts *emu.LaunchFacts) {
	c.facts = facts
	if c.findings == nil {
		c.findings = make(map[findingKey]*Finding)
	}
	c.sites, c.siteOf, c.lines = nil, make(map[siteKey]siteID), make(map[string]siteID)
	c.blocks, c.spare = make(map[int]*block), nil
}

// BeginBlock makes the shadow of a block's memory.
func (c *Checker) BeginBlock(number, sharedBytes int) {
	var b *block
	if last := len(c.spare) - 1; last >= 0 {
		b, c.spare = c.spare[last], c.spare[:last]
	} else {
		size := c.facts.Block
		b = newBlock((size[0]*size[1]*size[2]+31)/32, sharedBytes)
	}
	b.begin(number)
	c.blocks[number] = b
}

// EndBlock keeps the shadow for another block.
func (c *Checker) EndBlock(number int) {
	c.spare = append(c.spare, c.blocks[number])
	delete(c.blocks, number)
}

// Step checks what an instruction did.
func (c *Checker) Step(s *emu.Step) {
	b := c.blocks[s.Block]
	w := &b.warps[s.Warp]
	w.execute(s.Active)
	w.copies.step(s.Inst)
	if len(c.allocated) > 0 {
		c.called(s)
	}
	if s.Active&w.syncing.lanes != 0 {
		w.syncing = arrival{} // they go on
	}
	switch s.Inst.Op {
	case sass.MEMBAR:
		w.fence(s.Warp)
	case sass.WARPSYNC:
		c.sync(w, s)
	case sass.EXIT:
		c.exited(b, s)
	case sass.SHFL:
		c.shuffled(s)
	}
	if kind, size, lanes := s.Access(); kind != emu.NoAccess {
		c.access(b, s, kind, size, lanes)
	}
	if size, lanes := s.Copied(); lanes != 0 {
		c.copied(b, s, size, lanes)
	}
}

// access checks the lanes of an access one after the other.
func (c *Checker) access(b *block, s *emu.Step, kind emu.AccessKind, size int, lanes uint32) {
	at := c.site(s.Code, s.Inst)
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		space, addr := s.Lane(lane)
		if b.mbarrier(s, kind, space, addr) {
			continue
		}
		if kind == emu.Atomic {
			b.atomic(s.Warp, space, addr)
		}
		var known bool // whether what is read has been written
		switch space {
		case emu.Global:
			known = c.global.access(kind, addr, size) || s.Inst.Mod(sass.ZFill) != 0 // which reads less than size
		case emu.Shared:
			known = b.accessShared(kind, addr, size)
			c.race(b, s, at, kind, lane, addr, size)
		case emu.Local:
			known = b.warps[s.Warp].local.access(kind, lane, addr, size)
		}
		if !known {
			f := c.report(UninitialisedRead, at, 0, s.Block, s.Warp, lane)
			f.address(space, addr, size)
			if space == emu.Global && f.Where == "" {
				f.Where, f.Other = c.global.where(addr), c.global.origin(addr)
			}
		}
	}
}

// shuffled looks for lanes that got the value of a lane that was not at the shuffle, which is undefined (PTX ISA, shfl.sync).
func (c *Checker) shuffled(s *emu.Step) {
	for m := s.Undefined(); m != 0; m &= m - 1 {
		f := c.report(IdleLaneRead, c.site(s.Code, s.Inst), 0, s.Block, s.Warp, bits.TrailingZeros32(m))
		if f.Count == 1 {
			f.Detail = fmt.Sprintf("lanes %#08x execute it, lanes %#08x read from others: they get an undefined value", s.Mask, s.Undefined())
		}
	}
}

// Fault records an access that failed, and lets the launch go on.
func (c *Checker) Fault(f *emu.Fault) bool {
	c.fault(f)
	return true
}

// End records the fault that ended a launch.
func (c *Checker) End(f *emu.Fault) { c.fault(f) }

func (c *Checker) fault(f *emu.Fault) {
	key := c.key(Kind(f.Kind), c.siteAt(f.Code, f.PC), 0)
	if old := c.findings[key]; old != nil {
		old.Count++
		return
	}
	c.findings[key] = &Finding{Kind: Kind(f.Kind), Kernel: f.Kernel, Count: 1,
		At:         Place{Code: f.Code, PC: f.PC, SASS: f.SASS, Frames: f.Frames, Block: f.Block, Thread: f.Thread},
		HasAddress: f.HasAddress, Address: f.Address, Where: f.Buffer, Detail: f.Detail}
	if f.HasAddress {
		c.findings[key].Other = c.global.origin(f.Address)
	}
}

// Uninitialised says that nobody has written a part of global memory. Memory that it was not called for counts as written.
func (c *Checker) Uninitialised(name string, addr, size uint64) { c.global.add(name, addr, size) }

// site numbers an instruction.
func (c *Checker) site(code int, inst *sass.Inst) siteID {
	key := siteKey{code, inst.PC}
	id, ok := c.siteOf[key]
	if !ok {
		id = siteID(len(c.sites) + 1)
		c.sites = append(c.sites, site{code, inst, id})
		c.siteOf[key] = id
		c.sites[id-1].line = c.line(id)
	}
	return id
}

// line returns the first site seen of the same source line. The compiler makes many accesses of one that it unrolls.
func (c *Checker) line(id siteID) siteID {
	frames := c.frames(id)
	if len(frames) == 0 || frames[0].Line == 0 {
		return id
	}
	key := fmt.Sprint(c.sites[id-1].inst.Op, frames)
	if first, ok := c.lines[key]; ok {
		return first
	}
	c.lines[key] = id
	return id
}

// key is what tells a finding at two sites apart from others; the second may be 0.
func (c *Checker) key(kind Kind, at, other siteID) findingKey {
	key := findingKey{kernel: c.facts.Kernel.Demangled, kind: kind}
	if at != 0 {
		key.at = c.sites[at-1].line
	}
	if other != 0 {
		key.other = c.sites[other-1].line
	}
	return key
}

// siteAt numbers the instruction at a pc, 0 where there is none.
func (c *Checker) siteAt(code int, pc uint64) siteID {
	section := c.facts.Module.Codes[code]
	i, ok := section.InstIndex(pc)
	if !ok {
		return 0
	}
	return c.site(code, &section.Insts[i])
}

// place describes an instruction and the thread at it.
func (c *Checker) place(id siteID, blockNumber, warp, lane int) Place {
	s := &c.sites[id-1]
	p := Place{Code: s.code, PC: s.inst.PC, SASS: s.inst.Text(), Frames: c.frames(id)}
	p.Block, p.Thread = c.facts.Thread(blockNumber, warp, lane)
	return p
}

func (c *Checker) frames(id siteID) []cubin.Frame {
	s := &c.sites[id-1]
	return c.facts.Module.Codes[s.code].Frames(s.inst.PC)
}

// report counts a finding, and makes it where it is the first at its places. The caller fills in what a new one needs.
func (c *Checker) report(kind Kind, at, other siteID, blockNumber, warp, lane int) *Finding {
	key := c.key(kind, at, other)
	f := c.findings[key]
	if f == nil {
		f = &Finding{Kind: kind, Kernel: key.kernel, At: c.place(at, blockNumber, warp, lane)}
		c.findings[key] = f
	}
	f.Count++
	return f
}

// address notes where the first instance was.
func (f *Finding) address(space emu.Space, addr uint64, size int) {
	if f.Count == 1 {
		f.HasAddress, f.Space, f.Address, f.Bytes = true, space.String(), addr, size
	}
}

// Findings returns what was found in all launches: by kernel, family, place.
func (c *Checker) Findings() []*Finding {
	list := make([]*Finding, 0, len(c.findings))
	for _, f := range c.findings {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *Finding) int {
		return cmp.Or(
			cmp.Compare(a.Kernel, b.Kernel),
			cmp.Compare(slices.Index(Families(), a.Kind.Family()), slices.Index(Families(), b.Kind.Family())),
			cmp.Compare(a.At.Code, b.At.Code), cmp.Compare(a.At.PC, b.At.PC), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.otherPC(), b.otherPC()))
	})
	return list
}

func (f *Finding) otherPC() uint64 {
	if f.Other == nil {
		return 0
	}
	return f.Other.PC + 1
}
