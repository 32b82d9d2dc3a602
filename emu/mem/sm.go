package mem

import "math/bits"

// A SM is the way to memory of one SM: the queues of its sub-cores, the LSU that they share, L1, and the log of what
// goes on to the [Device]. Times that depend on an answer of the device are [Never] at first; the answer comes as an
// [Answer] when the quantum has been served.
type SM struct {
	cfg    *Config
	id     int32
	l1     *dataCache
	lsu    calendar
	idc    calendar // the indexed constant cache, of LDC
	tex    calendar // the texture units
	bars   calendar // the unit that counts arrivals at CTA barriers
	full   int64    // the LSU takes no access to L1 before this cycle
	shut   int64    // the LSU takes nothing before this cycle
	engine int64    // the copy engine has asked for all its lines before this cycle
	subs   []path

	log     []request
	head    int  // of log: the first that has not been answered
	port    port // to the crossbar
	stores  port // the same, were there stores alone
	fills   []fill
	freed   []int32  // unused elements of fills
	waiters []waiter // from 1 on
	idle    []int32  // unused elements of waiters
	tickets []ticket
	unused  []int32 // unused elements of tickets
	answers []Answer

	loads    credit // that L1 holds entries for
	outgoing credit // stores and atomics on their way to L2
}

// A path is what a sub-core has of its own.
type path struct {
	lg, mio, tex queue
	last         int64 // grant of the last instruction through the address unit
	busy         bool
}

// A fill is an outstanding request for sectors of L1, and who waits for it.
type fill struct {
	place  int32 // in L1
	ticket int32 // of who has asked
	first  int32 // of the others who wait, 0 for none
	last   int32
}

// A waiter is a ticket in the list of those that wait for a fill.
type waiter struct{ ticket, next int32 }

// A ticket is an instruction that waits for some answers.
type ticket struct {
	pending int32
	done    int64 // of the answers so far
	user    uint64
}

// An Answer tells that everything that the access named by User waited for is back in cycle Done.
type Answer struct {
	User uint64
	Done int64
}

// NewSM returns the memory path of an SM with an empty L1.
func NewSM(cfg *Config, id int) *SM {
	const room = 32 // requests and what belongs to them of a quantum of a usual kernel
	s := &SM{
		id: int32(id), subs: make([]path, cfg.Schedulers),
		log: make([]request, 0, room), fills: make([]fill, 0, room), freed: make([]int32, 0, room), waiters: make([]waiter, 1, room),
		idle: make([]int32, 0, room), tickets: make([]ticket, 0, room), unused: make([]int32, 0, room), answers: make([]Answer, 0, room),
	}
	return s.Successor(cfg)
}

// Successor makes the memory path one of the same SM for another launch, with an empty L1 in the storage of this one's.
func (s *SM) Successor(cfg *Config) *SM {
	l1, subs := s.l1, s.subs
	if l1 == nil || l1.sets != uint64(max(cfg.l1Sets, 1)) {
		l1 = newDataCache(cfg.l1Sets, cfg.l1Ways)
	} else {
		l1.clear()
	}
	for i := range subs {
		subs[i] = path{lg: subs[i].lg.emptied(cfg.queueLG), mio: subs[i].mio.emptied(cfg.queueMIO), tex: subs[i].tex.emptied(cfg.queueTEX)}
	}
	*s = SM{
		cfg: cfg, id: s.id, l1: l1, subs: subs, log: s.log[:0], fills: s.fills[:0], freed: s.freed[:0], waiters: s.waiters[:1],
		idle: s.idle[:0], tickets: s.tickets[:0], unused: s.unused[:0], answers: s.answers[:0], loads: credit{list: s.loads.list[:0]}, outgoing: credit{list: s.outgoing.list[:0]},
	}
	return s
}

// LGReady returns the first cycle in which the sub-core's queue for local and global memory has a place.
func (s *SM) LGReady(sub int) int64 { return s.subs[sub].lg.ready() }

// MIOReady returns the first cycle in which the sub-core's queue for other memory input/output has a place.
func (s *SM) MIOReady(sub int) int64 { return s.subs[sub].mio.ready() }

// TEXReady returns the first cycle in which the sub-core's queue for textures and surfaces has a place.
func (s *SM) TEXReady(sub int) int64 { return s.subs[sub].tex.ready() }

// EnterMIO takes a place in that queue until the cycle, for a unit that is not the LSU.
func (s *SM) EnterMIO(sub int, until int64) { s.subs[sub].mio.enter(until) }

// issue sends an instruction that reaches the sub-core's address unit in a cycle through it and through a unit that the sub-cores
// share, which it occupies for some cycles, and returns when that takes it.
func (s *SM) issue(p *path, unit *calendar, ready, cycles int64) int64 {
	if p.busy {
		ready = max(ready, p.last+s.cfg.address)
	}
	if unit == &s.lsu {
		ready = max(ready, s.shut)
	}
	g := unit.take(ready, int(cycles))
	p.last, p.busy = g, true
	return g
}

// exchange sends an instruction that does not touch L1 through the sub-core's MIO queue and a shared unit.
func (s *SM) exchange(sub int, unit *calendar, at, cycles int64) int64 {
	unit.forget(at)
	p := &s.subs[sub]
	g := s.issue(p, unit, at+s.cfg.entryMIO, cycles)
	p.mio.enter(g)
	return g
}

// Shuffle times an instruction that goes through the LSU without touching memory. It returns when its operands have
// been read and when a result of the unloaded latency, counted from the issue, is there.
func (s *SM) Shuffle(sub int, at, latency int64) (read, done int64) {
	g := s.exchange(sub, &s.lsu, at, s.cfg.shuffle)
	return g, g + max(latency-s.cfg.entryMIO, 1)
}

// Barrier times an arrival at a CTA barrier, which goes through the sub-core's MIO queue to a unit that the sub-cores share. It
// returns the same as [SM.Shuffle], and how much later the unit takes it than without others.
func (s *SM) Barrier(sub int, at, latency int64) (read, done, late int64) {
	g := s.exchange(sub, &s.bars, at, s.cfg.barrier)
	return g, g + max(latency-s.cfg.entryMIO, 1), g - at - s.cfg.entryMIO
}

// Constant times an instruction that goes through the sub-core's MIO queue to the indexed constant cache, which takes one
// instruction a cycle of all sub-cores. It returns the same as [SM.Shuffle].
func (s *SM) Constant(sub int, at, latency int64) (read, done int64) {
	s.idc.forget(at)
	g := s.idc.take(at+s.cfg.entryMIO, 1)
	s.subs[sub].mio.enter(g)
	return g, g + max(latency-s.cfg.entryMIO, 1)
}

// A Shared describes an access to shared memory.
type Shared struct {
	Passes  int  // through the banks
	Ideal   int  // passes without conflicts
	Words   int  // of 32 bits a thread
	Store   bool // not a load
	Atomic  bool
	Uniform bool // one address, of uniform registers
}

// Shared times an access to shared memory.
func (s *SM) Shared(sub int, at int64, a Shared) (read, done int64) {
	cfg := s.cfg
	g := s.exchange(sub, &s.lsu, at, cfg.occupied(a.Passes))
	latency := cfg.shared
	if a.Atomic {
		latency = cfg.atomicShared
	}
	latency += cfg.sharedWider * int64(max(a.Words-2, 0))
	if a.Uniform && !a.Store {
		latency -= cfg.uniformLoad
	}
	read = g
	if a.Store || a.Atomic {
		read = cfg.stored(g, a.Words, a.Uniform)
	}
	return read, g + latency + cfg.conflict*int64(max(a.Passes-a.Ideal, 0))
}

// occupied returns the cycles that an access of some passes occupies the LSU.
func (c *Config) occupied(passes int) int64 { return max(c.lsu*int64(passes), c.instruction) }

// stored returns when a store that the LSU took in a cycle has read its data.
func (c *Config) stored(grant int64, words int, uniform bool) int64 {
	if uniform {
		grant -= c.uniformStore
	}
	return grant + c.storeData + c.storeWider*int64(max(words-1, 0))
}

// Left returns when the stores that the LSU has taken so far have left the SM. What else waits for the port then is not known yet.
func (s *SM) Left() int64 { return int64(s.stores) / tick }

// A Global describes an access to global or local memory beside its lines.
type Global struct {
	Kind    Kind
	Words   int    // of 32 bits a thread
	Passes  int    // through the data banks of L1
	Bypass  bool   // L1 must not answer: volatile and strong accesses
	Turns   int    // of atomics: most lanes at one address
	Float   bool   // of atomics: of floating point
	Local   bool   // local memory: stores of it do not hold the LSU up
	Dense   bool   // its sectors are looked up as those of neighbouring lines are
	Uniform bool   // one address, of uniform registers
	Copy    bool   // to shared memory: however wide, it is not longer under way
	Quads   int    // cycles in the texture units of what goes through these and not through the LSU, 0 of others
	User    uint64 // comes back in the Answer
}

// Global times an access to global or local memory. done is Never where it depends on an answer of the device.
func (s *SM) Global(sub int, at int64, lines []Line, a Global) (read, done int64) {
	p := &s.subs[sub]
	lookups := s.lookups(lines, a.Dense)
	passes := max(lookups, a.Passes, 1)
	if a.Float {
		passes = max(passes, a.Turns)
	}
	if a.Quads > 0 {
		return s.texture(p, at, lines, a, max(a.Quads, lookups))
	}
	s.lsu.forget(at)
	entry := s.cfg.entry
	if a.Uniform {
		entry = s.cfg.entryUniform
	}
	g := s.issue(p, &s.lsu, max(at+entry, s.full), s.cfg.occupied(passes))
	p.lg.enter(g)
	read = g
	if a.Kind != Read {
		read = s.cfg.stored(g, a.Words, a.Uniform)
	}
	hit := g + s.cfg.l1Hit + max(s.cfg.wider*int64(max(a.Words-1, 0)), s.cfg.lsu*int64(passes-1))
	if a.Copy {
		hit = g + s.cfg.l1Hit + s.cfg.lsu*int64(max(lookups-1, 0))
	}
	if a.Uniform {
		hit -= s.cfg.uniformLoad
	}
	return read, s.reach(lines, a, at, g, hit)
}

// texture times an access to a texture or a surface, which the texture units, and then L1, take up in some cycles.
func (s *SM) texture(p *path, at int64, lines []Line, a Global, cycles int) (read, done int64) {
	s.tex.forget(at)
	g := s.tex.take(at+s.cfg.entry, cycles)
	p.tex.enter(g)
	return g, s.reach(lines, a, at, g, g+s.cfg.l1Hit+int64(cycles-1))
}

// reach sends an access that is granted in cycle g on to L1 and what lies behind, and returns when it is done, not before hit.
func (s *SM) reach(lines []Line, a Global, at, g, hit int64) (done int64) {
	t := s.open(a.User, hit)
	for i := range lines {
		switch {
		case a.Kind == Read && !a.Bypass:
			s.load(t, &lines[i], g+int64(i)*s.cfg.lsu, at)
		case a.Kind == Write:
			s.store(&lines[i], g)
			s.stores.take(g, s.cfg.port(Write, int64(bits.OnesCount8(lines[i].Sectors))))
			s.send(t, &lines[i], g+int64(i)*s.cfg.lsu, a)
		default:
			s.send(t, &lines[i], g+int64(i)*s.cfg.lsu, a)
		}
	}
	return s.close(t)
}

// Bulk times a copy between global and shared memory by the copy engine, which asks L2 for a line a cycle and passes L1 by. read is when it
// has asked for the last one; done is Never where it depends on an answer of the device.
func (s *SM) Bulk(at int64, lines []Line, a Global) (read, done int64) {
	begin := max(at, s.engine)
	s.engine = begin + int64(len(lines))
	t := s.open(a.User, begin)
	for i := range lines {
		s.send(t, &lines[i], begin+int64(i), a)
	}
	return s.engine, s.close(t)
}

// lookups returns the cycles in which the tags of the lines are looked up: lines of one bank take turns.
func (s *SM) lookups(lines []Line, dense bool) int {
	if len(lines) < 2 {
		return len(lines)
	}
	if dense {
		sectors := 0
		for i := range lines {
			sectors += bits.OnesCount8(lines[i].Sectors)
		}
		return (sectors + sectorsPerLine - 1) / sectorsPerLine
	}
	var banks [4]uint8
	most := uint8(0)
	for i := range lines {
		n := lines[i].Number
		b := bits.OnesCount64(n&s.cfg.tagHash[0])&1 | bits.OnesCount64(n&s.cfg.tagHash[1])&1<<1
		banks[b]++
		most = max(most, banks[b])
	}
	return int(most)
}

// load looks a line up in L1 and asks L2 for the sectors that are missing. now is a cycle before which no access is done any more.
func (s *SM) load(t int32, l *Line, at, now int64) {
	set := s.l1.setOf(l.Number)
	word, place := s.l1.find(l.Number, set)
	if word == nil {
		word, place = s.l1.add(l.Number, set)
	} else if *word&lineOpen != 0 {
		s.joinLine(t, word, place, l.Sectors, now)
	}
	missing := l.Sectors &^ uint8(*word&allSectors)
	if missing == 0 {
		return
	}
	*word |= lineOpen | uint64(missing)
	f := s.newFill(fill{place: place, ticket: t})
	arrive := s.l1.arrivals(place)
	for i := range arrive {
		if missing>>i&1 != 0 {
			arrive[i] = awaited(f)
		}
	}
	s.tickets[t].pending++
	s.request(request{at: at, line: l.Number, sectors: missing, kind: Read, fill: f})
}

// joinLine makes an access wait for those of its sectors that are on their way to a line of L1, which is not open any more where none is.
func (s *SM) joinLine(t int32, word *uint64, place int32, sectors uint8, now int64) {
	valid := uint8(*word & allSectors)
	var under bool // way
	for i, arrive := range s.l1.arrivals(place) {
		if valid>>i&1 == 0 {
			continue
		}
		under = under || arrive < 0 || arrive > now
		if sectors>>i&1 != 0 {
			s.join(t, arrive)
		}
	}
	if !under {
		*word &^= lineOpen
	}
}

// store keeps L1 in step: it is written through, and a sector that is written as a whole is there afterwards.
func (s *SM) store(l *Line, at int64) {
	full := l.full()
	set := s.l1.setOf(l.Number)
	word, place := s.l1.find(l.Number, set)
	if word == nil {
		if full == 0 {
			return
		}
		word, place = s.l1.add(l.Number, set)
	}
	added := full &^ uint8(*word&allSectors)
	if added == 0 {
		return
	}
	arrive := s.l1.arrivals(place)
	for i := range arrive {
		if added>>i&1 != 0 {
			arrive[i] = at
		}
	}
	*word |= lineOpen | uint64(added)
}

// send asks L2 without L1 having a say.
func (s *SM) send(t int32, l *Line, at int64, a Global) {
	s.tickets[t].pending++
	s.request(request{at: at, line: l.Number, sectors: l.Sectors, words: l.words(), kind: a.Kind, turns: uint8(a.Turns), float: a.Float, local: a.Local, fill: asks(t)})
}

// Fetch asks L2 for a whole line on behalf of another cache of the SM, of instructions or constants. The answer comes
// with the user's number.
func (s *SM) Fetch(at int64, line uint64, user uint64) {
	t := s.open(user, at)
	s.tickets[t].pending++
	s.request(request{at: at, line: line, sectors: allSectors, kind: Loaded, fill: asks(t)})
	s.close(t)
}

// Invalidate empties L1, as CCTL.IVALL does.
func (s *SM) Invalidate() { s.l1.clear() }

// Busy reports whether requests wait for the device, and the cycle of the first.
func (s *SM) Busy() (at int64, ok bool) {
	if s.head == len(s.log) {
		return Never, false
	}
	return s.log[s.head].at, true
}

// request logs a request. The log stays in order of cycles: the LSU grants in order, and instruction fetches, which do
// not pass the LSU, are put in their place, behind what has gone through the port.
func (s *SM) request(r request) {
	r.sm = s.id
	s.log = append(s.log, r)
	for i := len(s.log) - 1; i > s.head && !s.log[i-1].sent && s.log[i].at < s.log[i-1].at; i-- {
		s.log[i], s.log[i-1] = s.log[i-1], s.log[i]
	}
}

// depart sends the requests of before end through the port to the crossbar, one after the other. From then on they count for the
// cycle in which the port took them.
func (s *SM) depart(end int64) {
	for i := s.head; i < len(s.log); i++ {
		r := &s.log[i]
		if r.sent {
			continue
		}
		if r.at >= end {
			return
		}
		r.at, r.sent = s.port.take(r.at, s.cfg.port(r.kind, int64(bits.OnesCount8(r.sectors)))), true
	}
}
