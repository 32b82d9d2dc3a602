package mem

import "math/bits"

// A Device is what all SMs share: the ports of the crossbar, L2 and DRAM.
type Device struct {
	cfg      *Config
	l2       *sectored
	slices   []port
	channels []port
	ports    []port // by SM
	whole    port   // all of L2, where the timing is fast
	tlb      *tlb

	pending []*request // of the quantum, in order
	buckets []int32
}

// NewDevice returns a device with empty caches.
func NewDevice(cfg *Config) *Device {
	return &Device{
		cfg: cfg, l2: newSectored(cfg.l2Sets, cfg.l2Ways),
		slices: make([]port, cfg.slices), channels: make([]port, cfg.channels), ports: make([]port, cfg.SMs),
		tlb: newTLB(cfg),
	}
}

// Restart sets the clock back to zero for another launch; the caches keep what they hold.
func (d *Device) Restart(cfg *Config) {
	d.cfg = cfg
	clear(d.slices)
	clear(d.channels)
	clear(d.ports)
	d.whole = 0
	for i := range d.l2.lines {
		d.l2.lines[i].arrive = [sectorsPerLine]int64{}
	}
}

// Serve answers the requests that the SMs have logged for the cycles from begin to before end, in the order of cycle,
// SM and position in the log, and gives every SM its answers.
func (d *Device) Serve(sms []*SM, begin, end int64) {
	if d.sort(sms, begin, end) == 0 {
		return
	}
	for _, r := range d.pending {
		d.serve(r)
	}
	for _, s := range sms {
		s.absorb(end)
	}
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
		for i := range s.log {
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
		d.pending = make([]*request, total*2)
	}
	d.pending = d.pending[:total]
	for _, s := range sms {
		for i := range s.log {
			r := &s.log[i]
			if r.at >= end {
				break
			}
			at := &d.buckets[r.at-begin]
			d.pending[*at] = r
			*at++
		}
	}
	return total
}

// serve times one request.
func (d *Device) serve(r *request) {
	cfg := d.cfg
	n := int64(bits.OnesCount8(r.sectors))
	at := r.at + d.tlb.delay(r.line)
	way := cfg.l2Hit / 2
	arrive := d.ports[r.sm].take(at, n*cfg.portPerSector) + way
	if cfg.Fast {
		r.done = d.whole.take(arrive, n*cfg.l2PerSector) + cfg.answer(r.kind) - way
		return
	}
	set := d.l2.set(r.line)
	slice := &d.slices[set%uint64(len(d.slices))]
	turns := cfg.atomicTicks(r)
	start := slice.take(arrive, n*cfg.slicePerSector+turns) + turns/tick
	place, hit := d.l2.find(r.line, set)
	if !hit {
		var dirty uint8
		place, dirty = d.l2.add(r.line, set)
		start = d.evict(set, dirty, start)
	}
	r.done = d.access(r, place, set, start) + n - 1 + cfg.answer(r.kind) - way
}

// access returns when the sectors of a request are at hand in L2, or taken.
func (d *Device) access(r *request, place int, set uint64, at int64) int64 {
	l := &d.l2.lines[place]
	switch r.kind {
	case Write:
		l.write(r.sectors, at)
		return at
	case Loaded:
		l.write(r.sectors, at)
		l.dirty &^= r.sectors
		return at
	case Atomic:
		l.dirty |= r.sectors
	}
	return d.fetch(l, set, r.sectors, at)
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
	return int64(max(r.turns, 1)-1) * c.atomicUnit
}

// write marks the sectors valid and dirty. L2 keeps track of the bytes that were written and fetches nothing
// (write-validate).
func (l *sectorState) write(sectors uint8, at int64) {
	for i := range l.arrive {
		if sectors&^l.valid>>i&1 != 0 {
			l.arrive[i] = at
		}
	}
	l.valid |= sectors
	l.dirty |= sectors
}

// fetch returns when the sectors are in L2; those that are not come from DRAM.
func (d *Device) fetch(l *sectorState, set uint64, sectors uint8, at int64) int64 {
	ready := at
	for i := range l.arrive {
		if sectors>>i&1 == 0 {
			continue
		}
		if l.valid>>i&1 == 0 {
			l.arrive[i] = d.channel(set).take(at, d.cfg.channelPerSector) + d.cfg.dram
		}
		ready = max(ready, l.arrive[i])
	}
	l.valid |= sectors
	return ready
}

// evict writes the dirty sectors of a line back and returns when the channel has taken them: what comes in their place
// has to wait so long.
func (d *Device) evict(set uint64, dirty uint8, at int64) int64 {
	if n := bits.OnesCount8(dirty); n > 0 {
		return d.channel(set).take(at, int64(n)*d.cfg.channelPerSector)
	}
	return at
}

// channel returns the DRAM channel behind the slice of a set.
func (d *Device) channel(set uint64) *port {
	slice := set % uint64(len(d.slices))
	return &d.channels[slice*uint64(len(d.channels))/uint64(len(d.slices))]
}
