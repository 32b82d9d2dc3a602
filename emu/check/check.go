// Package check finds errors of kernels that the hardware lets pass: accesses out of bounds, misuse of the heap, reads of memory
// that nobody has written, races in shared and global memory and misuse of barriers. A [Checker] is the tracer of launches on an
// emulated GPU.
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
	"strings"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu"
)

// Kind is what is wrong.
type Kind string

// The kinds of findings, beside those of emu.FaultKind, which a finding has where an access or the launch failed.
const (
	UninitialisedRead Kind = "uninitialised read"
	RaceWAW           Kind = "write-write race"
	RaceRAW           Kind = "write-read race"
	RaceWAR           Kind = "read-write race"
	UnfinishedCopy    Kind = "copy not waited for"
	MissingSyncwarp   Kind = "missing __syncwarp"
	MissingProxyFence Kind = "missing proxy fence"
	DivergentBarrier  Kind = "divergent barrier"
	MixedBarriers     Kind = "different barriers meet"
	PartialBarrier    Kind = "barrier without threads that exited"
	BadSyncMask       Kind = "mask without the lane itself"
	DifferentMasks    Kind = "masks differ"
	MissingLanes      Kind = "lanes of the mask missing"
	AbsentLane        Kind = "shuffle from a missing lane"
	MbarrierUnready   Kind = "mbarrier not initialised"
	MbarrierTwice     Kind = "mbarrier initialised twice"
	MbarrierCount     Kind = "mbarrier count"
	Leak              Kind = "leak"
	MallocFailed      Kind = "malloc failed"
	ForeignLocal      Kind = "another thread's local memory"
	UnusedMemory      Kind = "unused memory"
	EarlyAccess       Kind = "access to a block that may not have begun"
	LateAccess        Kind = "access to a block that may have ended"
	PartialWarpgroup  Kind = "wgmma by a part of a warpgroup"
)

// Level says how sure it is that a finding is an error.
type Level string

// The levels: a warning is of what works on this run or may be meant.
const (
	Error   Level = "error"
	Warning Level = "warning"
)

// Level is how sure it is that a finding of a kind is an error.
func (k Kind) Level() Level {
	switch k {
	case MissingSyncwarp, MallocFailed, UnusedMemory:
		return Warning
	}
	return Error
}

// Family is the part of the checker that a kind belongs to, as --only names it.
func (k Kind) Family() string {
	switch k {
	case UninitialisedRead, UnusedMemory:
		return "init"
	case RaceWAW, RaceRAW, RaceWAR, UnfinishedCopy, MissingSyncwarp, MissingProxyFence, EarlyAccess, LateAccess, Kind(emu.EndedBlock):
		return "race"
	case DivergentBarrier, MixedBarriers, PartialBarrier, BadSyncMask, DifferentMasks, MissingLanes, AbsentLane, MbarrierUnready,
		MbarrierTwice, MbarrierCount, PartialWarpgroup, Kind(emu.InvalidBarrier), Kind(emu.BarrierDeadlock), Kind(emu.Livelock):
		return "barrier"
	}
	return "memory"
}

// Families are all parts, in the order of reports.
func Families() []string { return []string{"memory", "init", "race", "barrier"} }

// tools are the parts that the tools of compute-sanitizer look for.
var tools = [...]struct{ name, family string }{
	{"memcheck", "memory"}, {"racecheck", "race"}, {"initcheck", "init"}, {"synccheck", "barrier"},
}

// Tools are those of compute-sanitizer.
func Tools() (names []string) {
	for _, t := range tools {
		names = append(names, t.name)
	}
	return names
}

// FamilyOf is the part that a tool of compute-sanitizer looks for, "" for another name.
func FamilyOf(tool string) string {
	for _, t := range tools {
		if t.name == tool {
			return t.family
		}
	}
	return ""
}

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
	reach
}

// A party is a thread at an instruction. Places, which cost more, are made of those that are reported.
type party struct {
	site              siteID
	block, warp, lane int32
}

// A Checker is an emu.Tracer. Its zero value is ready.
type Checker struct {
	facts    *emu.LaunchFacts
	launches int32             // begun
	lines    map[string]siteID // the first site of a source line, with its calls
	sites    []site            // by siteID - 1
	siteOf   [][]siteID        // by code and instruction
	findings map[findingKey]*Finding
	global   regions
	used     []*usage // of buffers, where asked for
	grid     grid
	heap     heap
	faulted  uint32 // lanes whose access failed in the step that is still to come
	blocks   map[int]*block
	spare    []*block // whose storage is free
	last     *block   // of the last step, nil where that has ended
	number   int      // of the block of the last step
}

var _ emu.Tracer = (*Checker)(nil)

// Begin starts a launch. What earlier launches wrote stays written.
func (c *Checker) Begin(facts *emu.LaunchFacts) {
	if c.findings == nil {
		c.findings = make(map[findingKey]*Finding)
	}
	if c.facts == nil || c.facts.Module != facts.Module {
		c.sites, c.siteOf, c.lines = nil, make([][]siteID, len(facts.Module.Codes)), make(map[string]siteID)
	}
	c.facts = facts
	c.launches++
	c.grid.begin(c.launches)
	c.blocks, c.spare, c.last = make(map[int]*block), nil, nil
}

// BeginBlock makes the shadow of a block's memory.
func (c *Checker) BeginBlock(number, sharedBytes int) {
	members := c.members(number)
	if b := c.blocks[members[0]]; b != nil && b.left > 0 { // another block of the cluster has begun
		c.blocks[number] = b
		return
	}
	var b *block
	if last := len(c.spare) - 1; last >= 0 {
		b, c.spare = c.spare[last], c.spare[:last]
	} else {
		size := c.facts.Block
		b = newBlock(len(members), size[0]*size[1]*size[2], sharedBytes)
	}
	b.begin(members)
	c.blocks[number] = b
}

// members returns the blocks of the cluster of a block by rank.
func (c *Checker) members(number int) []int {
	size, grid := c.facts.Cluster, c.facts.Grid
	if size[0]*size[1]*size[2] <= 1 {
		return []int{number}
	}
	x, y, z := number%grid[0]/size[0]*size[0], number/grid[0]%grid[1]/size[1]*size[1], number/(grid[0]*grid[1])/size[2]*size[2]
	var list []int
	for k := range size[2] {
		for j := range size[1] {
			for i := range size[0] {
				list = append(list, x+i+grid[0]*(y+j+grid[1]*(z+k)))
			}
		}
	}
	return list
}

// EndBlock keeps the shadow for another block, once all blocks of the cluster have ended.
func (c *Checker) EndBlock(number int) {
	b := c.blocks[number]
	c.last = nil
	c.peersOf(b, number)
	c.warpgroupsOf(b, number)
	if b.left--; b.left > 0 {
		return
	}
	c.spare = append(c.spare, b)
	for _, n := range b.members {
		delete(c.blocks, n)
	}
}

// Step checks what an instruction did.
func (c *Checker) Step(s *emu.Step) {
	if c.last == nil || c.number != s.Block {
		c.last, c.number = c.blocks[s.Block], s.Block
	}
	b := c.last
	if rank := b.rank(s.Block); rank > 0 {
		of := *s
		of.Block, of.Warp = b.number, s.Warp+rank*b.warpsOf()
		s = &of
	}
	w := &b.warps[s.Warp]
	w.execute(s.Active)
	if len(c.heap.calls) > 0 {
		c.called(s)
	}
	if s.Active&w.syncing.lanes != 0 {
		w.syncing = arrival{} // they go on
	}
	if w.undefined.any() || s.Absent != 0 {
		c.undefined(w, s)
	}
	w.copied(s)
	c.order(b, w, s)
	if len(s.Mbarriers) > 0 {
		c.mbarriers(b, s)
	}
	if kind, size, lanes := s.Access(); kind != emu.NoAccess {
		c.access(b, w, s, kind, size, lanes&^c.faulted)
	}
	if size, lanes := s.Copied(); lanes != 0 {
		c.copied(b, s, size, lanes)
	}
	c.async(b, w, s)
	c.warpgroup(b, s)
	c.faulted = 0
}

// order follows the instructions that order what threads do.
func (c *Checker) order(b *block, w *warp, s *emu.Step) {
	switch s.Inst.Op {
	case sass.MEMBAR:
		w.fence(s.Warp)
		if s.Inst.Mod(sass.Scope) >= sass.ScopeGPU {
			w.publish()
		}
	case sass.CCTL:
		if s.Inst.Mod(sass.CctlOp) == sass.CctlIVALL { // what an acquire of the GPU's scope ends with
			w.acquire()
			w.acquireGrid()
		}
	case sass.FENCE:
		w.proxyFence(s.Warp)
	case sass.WARPSYNC:
		w.mark(s.Active)
		c.sync(w, s)
	case sass.NOP, sass.BAR:
		w.mark(s.Active)
	case sass.UCGABAR_WAIT:
		if s.Mask != 0 {
			w.await()
		}
	case sass.CALL:
		w.call = c.site(s.Code, s.Inst)
	case sass.EXIT:
		c.exited(b, s)
	}
	p := s.Inst.Op.Properties()
	if p.Sync == sass.SyncCluster || p.Crosses && !p.Accesses(^sass.NoSpace) { // the latter an exchange between the lanes
		w.mark(s.Active)
	}
}

// access checks the lanes of an access one after the other.
func (c *Checker) access(b *block, w *warp, s *emu.Step, kind emu.AccessKind, size int, lanes uint32) {
	id := c.site(s.Code, s.Inst)
	at := &c.sites[id-1]
	inShared, inGlobal := b.slot(s, id, kind, 0), c.visitOf(w, s, id, kind)
	does := s.Inst.Op.Properties()
	mayArrive := kind == emu.Atomic || kind == emu.Load && (len(b.words) > 0 || does.Sync == sass.SyncTransfer)
	var alike broadcast
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		space, addr := s.Lane(lane)
		owner := s.Block
		if space == emu.Shared {
			owner = s.Owner(lane)
			addr = b.at(owner, addr)
		}
		if space == emu.Shared && mayArrive && b.mbarrier(s, kind, addr) {
			if len(s.Mbarriers) == 0 && !b.accessShared(emu.Load, addr, size) {
				c.unready(&mbarrier{}, party{id, int32(s.Block), int32(s.Warp), int32(lane)})
			}
			continue
		}
		var known bool // whether what is read has been written
		switch space {
		case emu.Global:
			if at.synchronises {
				c.synchronise(b, w, s, at, kind, addr)
			}
			known = c.global.access(kind, addr, size) || s.Inst.Mod(sass.ZFill) != 0 // which reads less than size
			c.use(kind, addr, size)
			c.raceGlobal(b, w, s, &inGlobal, kind, lane, addr, size)
		case emu.Shared:
			if kind == emu.Atomic {
				b.atomic(s.Warp, space, addr, true, true)
			}
			known = b.accessShared(kind, addr, size)
			if does.Async == sass.AsyncRemote {
				barrier, _ := s.Told(lane)
				c.remote(b, s, id, kind, lane, addr, size, b.at(owner, barrier))
				if !c.systemShared(b, b.at(owner, barrier)) {
					c.visitPeer(b, s, id, lane, owner, w.transfers)
				}
				break
			}
			c.visitPeer(b, s, id, lane, owner, 0)
			if kind != emu.Load || !alike.third(addr) {
				c.race(b, s, &inShared, lane, addr, size)
			}
		case emu.Local:
			known = w.local.access(kind, lane, addr, size)
		}
		if !known {
			c.unwritten(b, s, id, lane, space, addr, size)
		}
		if size >= 8 && space != emu.Local {
			c.localPointer(b, s, id, kind, lane, space, addr, size)
		}
	}
}

// A broadcast is lanes one after the other that load from the same address. Two of them stand for the others: one at least is not
// the lane that wrote there.
type broadcast struct {
	addr uint64
	n    int
}

// third reports whether two lanes before the present one had the same address.
func (b *broadcast) third(addr uint64) bool {
	if b.n > 0 && b.addr == addr {
		b.n++
	} else {
		*b = broadcast{addr, 1}
	}
	return b.n > 2
}

// reservedShared is how much of its shared memory a block does not have for itself, bytes (cuda_occupancy.h).
const reservedShared = 1024

// systemShared reports whether an address in the shared memory of a cluster is where the code that compilers write for allocations of tensor memory
// keeps what has been allocated, and a barrier at which the blocks of a pair wait for each other. That all this is there before a block begins, and
// that the block then takes what another one sends it, is not the program's to see to.
func (c *Checker) systemShared(b *block, addr uint64) bool {
	return c.facts.Module.Arch >= sass.SM100 && b.shared > 0 && addr%uint64(b.shared) < reservedShared
}

// unwritten reports a read of what nobody has written.
func (c *Checker) unwritten(b *block, s *emu.Step, at siteID, lane int, space emu.Space, addr uint64, size int) {
	if space == emu.Shared && c.systemShared(b, addr) {
		return
	}
	f := c.report(UninitialisedRead, at, 0, s.Block, s.Warp, lane)
	c.address(f, s, space, addr, size)
	if space == emu.Global && f.Where == "" {
		f.Where, f.Other = c.global.where(addr), c.origin(addr)
	}
}

// Fault records an access that failed, and lets the launch go on.
func (c *Checker) Fault(f *emu.Fault) bool {
	if f.Kind != emu.BarrierDeadlock {
		_, _, lane := c.linear(f)
		c.faulted |= 1 << lane
	}
	c.fault(f)
	return true
}

// End records the fault that ended a launch.
func (c *Checker) End(f *emu.Fault) { c.fault(f) }

func (c *Checker) fault(f *emu.Fault) {
	at := Place{Code: f.Code, PC: f.PC, SASS: f.SASS, Frames: f.Frames, Block: f.Block, Thread: f.Thread}
	number, warp, lane := c.linear(f)
	site := c.siteAt(f.Code, f.PC)
	if site != 0 && c.blocks[number] != nil {
		at = c.place(site, number, warp, lane)
	}
	key := c.key(Kind(f.Kind), site, 0)
	if old := c.findings[key]; old != nil {
		old.Count++
		return
	}
	found := &Finding{Kind: Kind(f.Kind), Kernel: f.Kernel, Count: 1, At: at,
		HasAddress: f.HasAddress, Address: f.Address, Where: f.Buffer, Detail: f.Detail}
	c.findings[key] = found
	if f.HasAddress {
		found.Other = c.origin(f.Address)
		if freed := c.freed(f.Address); freed != "" {
			found.Detail = strings.TrimPrefix(f.Detail+"; "+freed, "; ")
		}
	}
}

// linear returns the block, the warp and the lane of a fault.
func (c *Checker) linear(f *emu.Fault) (block, warp, lane int) {
	fold := func(v, size [3]int) int { return (v[2]*size[1]+v[1])*size[0] + v[0] }
	thread := fold(f.Thread, c.facts.Block)
	return fold(f.Block, c.facts.Grid), thread / 32, thread % 32
}

// Uninitialised says that nobody has written a part of global memory. Memory that it was not called for counts as written.
func (c *Checker) Uninitialised(name string, addr, size uint64) { c.global.add(name, addr, size) }

// Initialised says that a part of what [Checker.Uninitialised] was called for has been written.
func (c *Checker) Initialised(addr uint64, size int) { c.global.access(emu.Store, addr, size) }

// site numbers an instruction.
func (c *Checker) site(code int, inst *sass.Inst) siteID {
	if c.siteOf[code] == nil {
		c.siteOf[code] = make([]siteID, len(c.facts.Module.Codes[code].Insts))
	}
	known := &c.siteOf[code][inst.PC/sass.InstSize]
	if *known == 0 {
		id := siteID(len(c.sites) + 1)
		*known = id
		c.sites = append(c.sites, site{code, inst, id, reachOf(inst, c.facts.Module.Codes[code].Insts)})
		c.sites[id-1].line = c.line(id)
	}
	return *known
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
	if b := c.blocks[blockNumber]; b != nil {
		if each := b.warpsOf(); warp >= each { // of another block of the cluster
			blockNumber, warp = b.members[warp/each], warp%each
		}
		id = c.caller(id, &b.warps[b.rank(blockNumber)*b.warpsOf()+warp])
	}
	s := &c.sites[id-1]
	p := Place{Code: s.code, PC: s.inst.PC, SASS: s.inst.Text(), Frames: c.frames(id)}
	p.Block, p.Thread = c.facts.Thread(blockNumber, warp, lane)
	return p
}

// caller is where a warp has called a function of the compiler's own, as __shfl_sync and barriers may be, and the site itself elsewhere.
func (c *Checker) caller(id siteID, w *warp) siteID {
	if w.call != 0 && !c.hasLine(id) {
		return w.call
	}
	return id
}

func (c *Checker) hasLine(id siteID) bool {
	frames := c.frames(id)
	return len(frames) > 0 && frames[0].Line > 0
}

// at describes a party.
func (c *Checker) at(p party) Place { return c.place(p.site, int(p.block), int(p.warp), int(p.lane)) }

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

// address notes where the first instance was. Of the shared memory of a cluster it tells the block too.
func (c *Checker) address(f *Finding, s *emu.Step, space emu.Space, addr uint64, size int) {
	b := c.blocks[s.Block]
	if space == emu.Shared && len(b.members) > 1 && f.Count == 1 {
		f.Where = fmt.Sprintf("of block %d of the cluster", addr/uint64(b.shared))
		addr %= uint64(b.shared)
	}
	f.address(space, addr, size)
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
