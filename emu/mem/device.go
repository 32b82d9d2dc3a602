package mem

import "math/bits"

// A Device is what all SMs share: L2 and DRAM.
//
// L2 may consist of partitions. Every line has a home in one of them, before its part of DRAM. An SM reads through the
// partition near to it, which keeps copies of lines whose home is in another. That such a copy was made does not renew the line at
// home: bandwidths of buffers of 0.7 to 1.1 times L2's size on A100, H100 PCIe and H200 (RRZE-HPC/gpu-benches gpu-l2-cache) fall as if
// it did not, and earlier if it does.
type Device struct {
	cfg      *Config
	parts    []partition
	banks    []bank    // of DRAM, by channel
	channels []channel // of DRAM
	whole    port      // all of L2, where the timing is fast
	first    []tlb     // of the TLB, by SM
	last     *tlb

	traffic Traffic
	// Others is who else uses the lines, where the SMs are those of a part of a GPU; nil where nobody does.
	Others  Others
	partial float64 // of a sector that was read for the SMs and others
	atomics []port  // of a part: by slice of the GPU

	pending []place // the requests of the quantum, in order
	buckets []int32
}

// A place is where a request is: in the log of an SM.
type place struct{ log, at int32 }

// Others says how a part of a GPU uses lines that other parts use too.
type Others interface {
	// Own returns which part of the uses of a line are the SMs' own, and whether others have brought it to L2 before its first use.
	Own(line uint64) (own float64, there bool)
}

// own returns the same of a device that may be a whole one.
func (d *Device) own(line uint64) (own float64, there bool) {
	if d.Others == nil {
		return 1, false
	}
	return d.Others.Own(line)
}

// Traffic counts what went over L2 and DRAM since the clock was at zero, in sectors of 32 bytes. Without full timing there is no
// DRAM to count at.
type Traffic struct {
	L2          int64 // asked of L2 by the SMs, writes and atomics included
	DRAMRead    int64
	DRAMWritten int64 // from dirty lines of L2; those that are there at the end are not written
}

// Traffic returns the counts.
func (d *Device) Traffic() Traffic { return d.traffic }

// A partition is a part of L2.
type partition struct {
	*sectored
	slices []slice
}

// A slice serves what somebody waits for before the writes that wait: so many of them as can do so lie in the queues of the SMs
// still, from which reads of others do not wait. Writes are served in the time that is left.
type slice struct {
	all    port // all that has come
	prompt port // but for writes
	link   port // from the other partitions
	// held is until when its last miss waits for DRAM, or for another partition. Where the model says so, what comes behind that waits
	// too: the queue before DRAM is short, and the slice hands on in order what it is asked. So a hit is not much faster than a miss
	// where DRAM is full.
	held int64
}

// take occupies the slice for cost ticks from cycle at on, or from when it is free for what is asked, and returns the cycle in which
// the service begins.
func (s *slice) take(k Kind, at, cost int64) int64 {
	all := s.all.take(at, cost)
	if k == Write {
		return all
	}
	return s.prompt.take(at, cost)
}

// A bank is one of DRAM.
type bank struct {
	port
	read bool // the last access was
}

// A channel is one of DRAM, whose controller may keep writes.
type channel struct {
	read bool  // since writes that were kept were written last
	kept int64 // ticks of a bank that the kept writes take
	next int64 // from this cycle on they are written, with the next one that comes
}

// NewDevice returns a device with empty caches.
func NewDevice(cfg *Config) *Device {
	d := &Device{
		cfg: cfg, parts: make([]partition, cfg.partitions), banks: make([]bank, cfg.channels*cfg.memoryBanks), first: newFirstTLBs(cfg), last: newLastTLB(cfg),
		channels: make([]channel, cfg.channels),
	}
	if cfg.part {
		d.atomics = make([]port, int(cfg.wholeSlices)*cfg.partitions)
	}
	d.stagger()
	for i := range d.parts {
		d.parts[i] = partition{newSectored(cfg.places, cfg.l2Ways), make([]slice, cfg.slices)}
	}
	return d
}

// stagger lets the channels turn to writing at different times.
func (d *Device) stagger() {
	for i := range d.channels {
		d.channels[i].next = int64(scatter(uint64(i))) % max(d.cfg.batch, 1)
	}
}

// Restart sets the clock back to zero for another launch. The caches keep what they hold if they are to be warm.
func (d *Device) Restart(cfg *Config, warm bool) {
	d.cfg, d.traffic = cfg, Traffic{}
	clear(d.banks)
	clear(d.atomics)
	d.whole, d.partial = 0, 0
	for _, p := range d.parts {
		clear(p.slices)
		if !warm {
			p.clear()
			continue
		}
		p.rewind()
	}
	if !warm {
		clear(d.channels)
		for i := range d.first {
			d.first[i].forget()
		}
		d.last.forget()
	}
	d.stagger()
}

// Serve answers the requests that leave the SMs in the cycles from begin to before end, in the order of cycle, SM and
// position in the log, and returns their number. The SMs then take the answers with [SM.Absorb]. Requests that are logged for
// these cycles but wait for their SM's port until end or longer are left for later: in the order in which they reach L2, none
// takes a turn of a slice from one that is there before.
func (d *Device) Serve(sms []*SM, begin, end int64) int {
	for _, s := range sms {
		s.depart(end)
	}
	n := d.sort(sms, begin, end)
	for _, p := range d.pending[:n] {
		d.serve(&sms[p.log].log[p.at])
	}
	return n
}

// sort fills d.pending by counting sort. The logs of the SMs are in order of their cycles already.
func (d *Device) sort(sms []*SM, begin, end int64) int {
	n := int(end-begin) + 1
	if len(d.buckets) < n {
		d.buckets = make([]int32, n)
	}
	clear(d.buckets)
	var total int
	for _, s := range sms {
		for i := s.head; i < len(s.log); i++ {
			r := &s.log[i]
			if r.at >= end {
				break
			}
			d.buckets[r.at-begin+1]++
			total++
		}
	}
	for i := 1; i < n; i++ {
		d.buckets[i] += d.buckets[i-1]
	}
	if cap(d.pending) < total {
		d.pending = make([]place, total*2)
	}
	d.pending = d.pending[:total]
	for k, s := range sms {
		for i := s.head; i < len(s.log); i++ {
			at := s.log[i].at
			if at >= end {
				break
			}
			next := &d.buckets[at-begin]
			d.pending[*next] = place{int32(k), int32(i)}
			*next++
		}
	}
	return total
}

// serve times one request.
func (d *Device) serve(r *request) {
	cfg := d.cfg
	n := int64(bits.OnesCount8(r.sectors))
	d.traffic.L2 += n
	way := cfg.l2Hit / 2
	arrive := r.at + way
	translated := d.translate(r) // added in the end, as the way between partitions, see copied
	if cfg.Fast {
		r.done = d.whole.take(arrive, n*cfg.l2PerSector) + translated
		if r.kind != Write {
			r.done += cfg.answer(r.kind) - way
		}
		return
	}
	near, home := d.near(r.sm), d.home(r.line)
	var done int64
	switch {
	case near == home || r.kind == Loaded:
		done = d.access(r, near, arrive)
	case r.kind == Read:
		done = d.copied(r, near, home, arrive)
	default:
		d.parts[near].forget(r.line)
		done = d.access(r, home, arrive) + cfg.far
	}
	r.done = done + translated + n - 1
	if r.kind != Write {
		r.done += cfg.answer(r.kind) - way
	}
}

// near returns the partition that an SM reads through.
func (d *Device) near(sm int32) int { return int(sm) * len(d.parts) / d.cfg.SMs }

// home returns the partition that a line belongs to.
func (d *Device) home(line uint64) int {
	if len(d.parts) == 1 {
		return 0
	}
	return int(line*0x9E3779B97F4A7C15>>32) % len(d.parts)
}

// access sends a request to a partition and returns when its sectors are at hand there, or taken.
func (d *Device) access(r *request, part int, arrive int64) int64 {
	p := &d.parts[part]
	set := p.set(r.line)
	turns := d.cfg.atomicTicks(r)
	n := int64(bits.OnesCount8(r.sectors))
	cost := n*d.cfg.slicePerSector + int64(bits.OnesCount8(r.partial()))*d.cfg.slicePartial
	if !d.cfg.part {
		cost += turns
	}
	at := p.slice(set).take(r.kind, arrive, cost) + turns/tick
	if d.cfg.part && turns > 0 {
		of := uint64(part)*d.cfg.wholeSlices + d.cfg.whole.set(r.line)%d.cfg.wholeSlices
		at = max(at, d.atomics[of].take(arrive, int64(float64(turns)/d.cfg.share))+turns/tick)
	}
	l, way := p.place(r.line, set)
	switch {
	case l == nil:
		var old victim
		l, old = p.add(r.line, set)
		at = d.evict(part, set, old, at)
	case !r.copied:
		p.use(set, way)
	}
	switch r.kind {
	case Write:
		l.write(r.sectors, r.words, at)
		if holes := r.sectors &^ whole(l.words); holes != 0 && d.cfg.fill == fillWritten {
			d.read(l, holes, part, set, r.line, at)
		}
		return at
	case Loaded:
		l.write(r.sectors, wordsOf(r.sectors), at)
		l.dirty &^= r.sectors
		return at
	case Atomic:
		l.dirty |= r.sectors
	}
	return d.fetch(l, part, set, r, at)
}

// copied reads a line through the near partition, which asks the line's home for the sectors that it has no copy of. The
// way between the partitions is added in the end: a port that were taken ahead of time would be lost to what comes before,
// and two partitions that wait for each other would drift ahead for good.
func (d *Device) copied(r *request, near, home int, arrive int64) int64 {
	p := &d.parts[near]
	set := p.set(r.line)
	s := p.slice(set)
	at := s.take(r.kind, arrive, int64(bits.OnesCount8(r.sectors))*d.cfg.slicePerSector)
	l := p.find(r.line, set)
	if l == nil {
		var old victim
		l, old = p.add(r.line, set)
		at = d.evict(near, set, old, at)
	}
	missing := r.sectors &^ l.valid
	if missing == 0 {
		if d.cfg.inOrder {
			at = max(at, s.held)
		}
		return d.answered(l, r.sectors, at)
	}
	ask := request{line: r.line, sectors: missing, kind: Read, copied: true}
	there := d.access(&ask, home, arrive)
	sent := s.link.take(at, int64(bits.OnesCount8(missing))*d.cfg.linkPerSector)
	s.held = max(sent, d.parts[home].slice(set).held)
	ready := max(at, there) + d.cfg.far + sent - at
	l.arrived(missing, ready)
	return d.answered(l, r.sectors, ready)
}

// answer returns the cycles from the LSU's grant to the answer of L2.
func (c *Config) answer(k Kind) int64 {
	if k == Atomic {
		return c.atomic
	}
	return c.l2Hit
}

// atomicTicks returns the time that a slice works on an atomic: lanes at one address take turns.
func (c *Config) atomicTicks(r *request) int64 {
	if r.kind != Atomic {
		return 0
	}
	unit := c.atomicUnit
	if r.float {
		unit = c.atomicFloat
	}
	return int64(max(r.turns, 1)-1) * unit
}

// write marks the sectors valid and dirty. L2 keeps track of the words that were written and fetches nothing
// (write-validate) unless the model says so.
func (l *sectorState) write(sectors uint8, words uint32, at int64) {
	for i := range l.arrive {
		if sectors&^l.valid>>i&1 != 0 {
			l.arrive[i] = at
		}
	}
	l.valid |= sectors
	l.dirty |= sectors
	l.words |= words
}

// arrived notes when sectors are there.
func (l *sectorState) arrived(sectors uint8, at int64) {
	for i := range l.arrive {
		if sectors>>i&1 != 0 {
			l.arrive[i] = at
		}
	}
	l.valid |= sectors
	l.words |= wordsOf(sectors)
}

// last returns when the last of some sectors is there, not before a cycle.
func (l *sectorState) last(sectors uint8, at int64) int64 {
	for i := range l.arrive {
		if sectors>>i&1 != 0 {
			at = max(at, l.arrive[i])
		}
	}
	return at
}

// answered returns when the sectors of a line leave a slice for who has asked for them by a cycle. Who has asked for sectors that are on
// their way is answered when they are there, one after the other: the requests that a miss has gathered leave one by one, as from the
// miss status registers of Accel-Sim's L2.
func (d *Device) answered(l *sectorState, sectors uint8, at int64) int64 {
	cost := int64(bits.OnesCount8(sectors)) * d.cfg.slicePerSector
	if d.Others != nil {
		own, _ := d.own(l.line)
		cost = int64(float64(cost) / own)
	}
	return l.reply.take(l.last(sectors, at), cost)
}

// fetch returns when the sectors of a request are in L2; those that are not come from DRAM.
func (d *Device) fetch(l *sectorState, part int, set uint64, r *request, at int64) int64 {
	there := l.valid
	if d.cfg.fill != fillNever {
		there = whole(l.words)
	}
	s := d.parts[part].slice(set)
	if missing := r.sectors &^ there; missing != 0 {
		s.held = d.read(l, missing, part, set, r.line, at)
	} else if d.cfg.inOrder {
		at = max(at, s.held)
	}
	return d.answered(l, r.sectors, at)
}

// read brings sectors of a line from DRAM and returns when the bank begins with the last of them.
func (d *Device) read(l *sectorState, sectors uint8, part int, set, line uint64, at int64) (begin int64) {
	own, there := d.own(line)
	d.count(own, bits.OnesCount8(sectors))
	if there {
		l.arrived(sectors, at)
		return at
	}
	c := d.bank(part, set, line)
	c.read = true
	if d.cfg.batch > 0 {
		d.channels[d.channelOf(part, set)].read = true
	}
	latency := d.cfg.dram + d.cfg.deviation(line)
	perSector := d.perSector(&d.cfg.reading, line)
	if own < 1 {
		perSector = int64(float64(perSector) * own)
	}
	for i := range l.arrive {
		if sectors>>i&1 != 0 {
			begin = c.take(at, perSector)
			l.arrive[i] = begin + latency
		}
	}
	l.valid |= sectors
	l.words |= wordsOf(sectors)
	return begin
}

// count counts sectors read from DRAM.
func (d *Device) count(own float64, sectors int) {
	d.partial += own * float64(sectors)
	n := int64(d.partial)
	d.traffic.DRAMRead += n
	d.partial -= float64(n)
}

// deviation returns by how much the latency of a line in DRAM differs from the mean.
func (c *Config) deviation(line uint64) int64 {
	const bank = 6 // the bits before choose the bank
	return int64(scatter(line)>>bank)%(2*c.spread+1) - c.spread
}

// evict writes the dirty sectors of a line back, at once or, where the model says so, with others. What comes in their place waits only
// where the bank lags behind by more than what the memory controller buffers; evict returns when it may go on.
func (d *Device) evict(part int, set uint64, old victim, at int64) int64 {
	if old.dirty == 0 {
		return at
	}
	c := d.bank(part, set, old.line)
	sectors := int64(bits.OnesCount8(old.dirty))
	d.traffic.DRAMWritten += sectors
	if d.cfg.fill == fillEvicted {
		holes := int64(bits.OnesCount8(old.holes))
		d.traffic.DRAMRead += holes
		sectors += holes
	}
	cost := sectors * d.perSector(&d.cfg.writing, old.line)
	if d.cfg.batch > 0 {
		return d.keep(d.channelOf(part, set), c, cost, at)
	}
	if c.read {
		cost += d.cfg.turn
	}
	c.read = false
	return max(at, c.take(at, cost)-d.cfg.buffered)
}

// keep lets the controller of a channel keep a write, while it reads until it is time to write, else until there is a line for every
// bank. Among what it has kept it finds something for every bank, so all are busy for the same time. It returns the same as evict: what
// comes in the line's place waits where the channel lags behind by more than it is allowed to keep.
func (d *Device) keep(n uint64, b *bank, cost, at int64) int64 {
	c := &d.channels[n]
	c.kept += cost
	if at >= c.next || !c.read && c.kept >= d.cfg.round() {
		d.drain(n, at)
	}
	behind := (int64(b.port) + c.kept/int64(d.cfg.memoryBanks)) / tick
	return max(at, behind-d.cfg.batch-d.cfg.buffered)
}

// round returns the ticks of a bank that a line for every bank of a channel takes.
func (c *Config) round() int64 { return sectorsPerLine * c.writing.open * int64(c.memoryBanks) }

// drain writes what a channel has kept to all of its banks, and turns for that if it has read. Reads that come meanwhile wait.
func (d *Device) drain(n uint64, at int64) {
	of := uint64(d.cfg.memoryBanks)
	c, banks := &d.channels[n], d.banks[n*of:][:of]
	if c.read {
		c.kept += d.cfg.turn
	}
	each := c.kept / int64(of)
	begin := at
	for i := range banks {
		begin = max(begin, banks[i].take(at, each))
		banks[i].read = false
	}
	*c = channel{next: begin + d.cfg.batch}
}

// perSector returns the ticks that a bank is busy with a sector of a line. The first line of a row waits for it to be opened;
// the rows of the banks begin at different lines.
func (d *Device) perSector(t *bankTime, line uint64) int64 {
	slice, n := d.cfg.sequence(line)
	if (n/uint64(d.cfg.memoryBanks)+scatter(slice))%d.cfg.rowLines == 0 {
		return t.opening
	}
	return t.open
}

// slice returns the slice of a set.
func (p *partition) slice(set uint64) *slice { return &p.slices[set%uint64(len(p.slices))] }

// forget drops a copy of a line.
func (p *partition) forget(line uint64) {
	if l := p.find(line, p.set(line)); l != nil {
		l.valid, l.words = 0, 0
	}
}

// bank returns the bank of DRAM that holds a line of a set: a bank of the channel behind the set's slice. As many lines in
// a row as L2 has sets are spread evenly over all banks.
func (d *Device) bank(part int, set, line uint64) *bank {
	slices, banks := uint64(d.cfg.slices), uint64(d.cfg.memoryBanks)
	window := line / d.cfg.wholeSets
	_, n := d.cfg.sequence(d.cfg.whole.set(line))
	return &d.banks[d.channelOf(part, set)*banks+(n+scatter(window*slices+d.sliceOf(part, set)))%banks]
}

// sliceOf returns the number of the slice of a set among those of all partitions.
func (d *Device) sliceOf(part int, set uint64) uint64 {
	slices := uint64(d.cfg.slices)
	return uint64(part)*slices + set%slices
}

// channelOf returns the number of the channel of DRAM behind the slice of a set.
func (d *Device) channelOf(part int, set uint64) uint64 {
	return d.sliceOf(part, set) * uint64(d.cfg.channels) / uint64(d.cfg.slices*len(d.parts))
}

// scatter hashes a line number.
func scatter(line uint64) uint64 {
	h := line * 0x9E3779B97F4A7C15
	return (h ^ h>>32) * 0xD6E8FEB86659FD93 >> 40
}
